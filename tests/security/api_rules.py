"""Every door of the API: method and route, what it asks for, and a body that would be valid.

A route that is not here fails the test: a new endpoint comes with its rule. `W` is the world of `world.py`;
a body or a path's values are functions of it. A tuple of cases is for doors that ask for different things.
"""

from __future__ import annotations

from tests.security.cases import Case, case, crud
from tests.security.lineage_rules import LINEAGE_RULES
from tests.security.matrix import (
    ANYONE,
    AUDIT,
    CRAWL,
    CURATE,
    DECIDE,
    KEYS,
    KNOWN,
    NOBODY,
    PEOPLE,
    PERSON,
    PUBLISH,
    SEE,
    SYSTEMS,
    TYPES,
    anywhere,
    everything,
    of_system,
    own_rows,
    rows_of_systems,
)  # fmt: skip

SEEN = anywhere(SEE)

RULES: dict[str, tuple[Case, ...]] = {
    # Before anybody is known.
    "GET schema": case(ANYONE),
    "GET docs": case(ANYONE),
    "POST login": case(ANYONE, body=lambda w: {"username": w.person.email, "password": w.password}),
    "POST login/refresh": case(ANYONE, body=lambda w: {"refresh_token": w.refresh_token}),
    "POST login/logout": case(ANYONE, body=lambda w: {"refresh_token": w.refresh_token}),
    "POST login/token": case(
        ANYONE,
        body=lambda w: {
            "grant_type": "client_credentials",
            "client_id": w.key.public_id,
            "client_secret": w.secret,
        },
    ),
    "POST login/logout-all": case(PERSON),
    # People and keys.
    **crud(
        "users",
        reads=anywhere(PEOPLE),
        lists=anywhere(PEOPLE),
        writes=anywhere(PEOPLE),
        thing=lambda w: w.person,
        new=lambda w: {"email": "new@example.com", "password": "correct horse 8 battery"},
        whole=lambda w: {"email": w.person.email, "full_name": "Zebra finch two"},
        part=lambda w: {"full_name": "Zebra finch three", "groups": ["admin"]},
        gone=lambda w: w.gone_person,
    ),
    "GET users/me": case(KNOWN),
    "PATCH users/me": case(PERSON, body=lambda w: {"full_name": "Me"}),
    "GET api-keys": case(own_rows(PEOPLE, KEYS, others=PEOPLE)),
    "POST api-keys": (
        *case(anywhere(KEYS, PEOPLE), body=lambda w: {"name": "mine", "scopes": ["registry:read"]}),
        *case(
            anywhere(PEOPLE),
            body=lambda w: {"name": "theirs", "scopes": ["registry:read"], "user_id": w.person.pk},
            name="for someone else",
        ),
    ),
    "GET api-keys/{pk}": case(anywhere(PEOPLE), lambda w: w.key),
    "PUT api-keys/{pk}": case(
        anywhere(PEOPLE), lambda w: w.key, lambda w: {"name": "zebra", "scopes": ["registry:write"]}
    ),
    "PATCH api-keys/{pk}": case(
        anywhere(PEOPLE), lambda w: w.key, lambda w: {"scopes": ["registry:write"], "systems": []}
    ),
    "DELETE api-keys/{pk}": case(anywhere(PEOPLE), lambda w: w.key),
    "POST api-keys/{pk}/revoke": case(anywhere(PEOPLE), lambda w: w.key, lambda w: {"reason": "lost"}),
    # The catalogue: what technologies and types there are belongs to no system.
    **crud(
        "system-kinds",
        reads=SEEN,
        lists=SEEN,
        writes=anywhere(TYPES),
        thing=lambda w: w.kind,
        new=lambda w: {"code": "NEW", "name": "New"},
        whole=lambda w: {"code": "SPARE", "name": "Other"},
        part=lambda w: {"name": "Other"},
        gone=lambda w: w.gone_kind,
    ),
    **crud(
        "system-flavors",
        reads=SEEN,
        lists=SEEN,
        writes=anywhere(TYPES),
        thing=lambda w: w.flavor,
        new=lambda w: {"code": "new", "name": "New", "kind": "RDBMS"},
        whole=lambda w: {"code": "spare", "name": "Other", "kind": "RDBMS"},
        part=lambda w: {"name": "Other"},
        gone=lambda w: w.gone_flavor,
    ),
    **crud(
        "data-types",
        reads=SEEN,
        lists=SEEN,
        writes=anywhere(TYPES),
        thing=lambda w: w.data_type,
        new=lambda w: {"flavor": "postgresql", "code": "brand_new", "name": "New"},
        whole=lambda w: {"flavor": "postgresql", "code": "spare", "name": "Other"},
        part=lambda w: {"name": "Other"},
        gone=lambda w: w.gone_data_type,
    ),
    "POST data-types/{pk}/render": case(SEEN, lambda w: w.numeric, lambda w: {"params": {"precision": 5}}),
    **crud(
        "cast-rules",
        reads=SEEN,
        lists=SEEN,
        writes=anywhere(TYPES),
        thing=lambda w: w.cast_rule,
        new=lambda w: {"source_data_type_id": w.text.pk, "target_data_type_id": w.text.pk},
        whole=lambda w: {
            "source_data_type_id": w.numeric.pk,
            "target_data_type_id": w.text.pk,
            "safety": "unsafe",
        },
        part=lambda w: {"safety": "unsafe"},
        gone=lambda w: w.gone_cast_rule,
    ),
    "POST casts": case(
        SEEN, body=lambda w: {"from_flavor": "postgresql", "to_flavor": "postgresql", "types": ["text"]}
    ),
    "POST pii/classify": case(
        SEEN, body=lambda w: {"columns": [{"table": "customers", "column": "email", "type": "text"}]}
    ),
    "POST types/parse": case(SEEN, body=lambda w: {"flavor": "postgresql", "native_type": "int4"}),
    "POST compatibility": case(
        SEEN,
        body=lambda w: {
            "flavor": "postgresql",
            "level": "BACKWARD",
            "before": w.document,
            "after": w.document,
        },
    ),
    **crud(
        "pii-tags",
        reads=SEEN,
        lists=SEEN,
        writes=anywhere(PEOPLE),
        thing=lambda w: w.spare_tag,
        new=lambda w: {"code": "new_tag", "name": "New", "sensitivity": 2},
        whole=lambda w: {"code": "spare_tag", "name": "Other", "sensitivity": 1},
        part=lambda w: {"sensitivity": 3},
        gone=lambda w: w.gone_tag,
    ),
    # Systems.
    **crud(
        "credential-refs",
        reads=SEEN,
        lists=SEEN,
        writes=anywhere(SYSTEMS),
        thing=lambda w: w.credential,
        new=lambda w: {"provider": "env", "path": "NEW_PASSWORD"},
        whole=lambda w: {"provider": "env", "path": "SPARE_PASSWORD", "note": "x"},
        part=lambda w: {"note": "x"},
        gone=lambda w: w.gone_credential,
    ),
    **crud(
        "systems",
        reads=of_system(SEE),
        lists=rows_of_systems(SEE),
        writes=of_system(SYSTEMS),
        thing=lambda w: w.empty_system,
        new=lambda w: {"code": "brand-new", "name": "New", "flavor": "postgresql"},
        whole=lambda w: {"code": w.empty_system.code, "name": "Other", "flavor": "postgresql"},
        part=lambda w: {"connection_url": "postgresql://reader@db.example.com/other"},
        gone=lambda w: w.gone_system,
    ),
    # Data.
    "GET datasets": case(rows_of_systems(SEE)),
    "POST datasets": case(
        of_system(SYSTEMS, PUBLISH),
        body=lambda w: {"system": w.here.code, "kind": "rdbms", "location": {"schema": "s", "table": "new"}},
    ),
    "GET datasets/{pk}": case(of_system(SEE), lambda w: w.dataset),
    "PUT datasets/{pk}": case(
        of_system(CURATE), lambda w: w.dataset, lambda w: {**w.dataset_body, "description": "Mine now"}
    ),
    "PATCH datasets/{pk}": (
        *case(of_system(CURATE), lambda w: w.dataset, lambda w: {"description": "Mine"}, name="words"),
        *case(
            of_system(SYSTEMS, CURATE), lambda w: w.dataset, lambda w: {"status": "deprecated"}, name="status"
        ),
        *case(
            of_system(SYSTEMS),
            lambda w: w.spare_dataset,
            lambda w: {"location": {"schema": "other", "table": "spare"}, "name": "other.spare"},
            name="place",
        ),
    ),
    "DELETE datasets/{pk}": case(of_system(SYSTEMS), lambda w: w.spare_dataset),
    "POST datasets/{pk}/restore": case(of_system(SYSTEMS), lambda w: w.gone_dataset),
    "GET datasets/{pk}/schema": case(of_system(SEE), lambda w: w.dataset),
    "GET datasets/{pk}/diff": case(of_system(SEE), lambda w: w.dataset, query="?since=2001-01-01"),
    "GET datasets/{dataset_id}/cast-plan": case(of_system(SEE), lambda w: w.dataset, query="?to=postgresql"),
    "POST datasets/{pk}/check": case(of_system(SEE), lambda w: w.dataset, lambda w: {"document": w.document}),
    "GET fields": case(rows_of_systems(SEE)),
    "POST fields": case(of_system(PUBLISH), body=lambda w: {"dataset_id": w.dataset.pk, "name": "new_field"}),
    "GET fields/tree/{dataset_id}": case(of_system(SEE), lambda w: w.dataset),
    "GET fields/{pk}": case(of_system(SEE), lambda w: w.field),
    "GET fields/{pk}/children": case(of_system(SEE), lambda w: w.field),
    "PUT fields/{pk}": case(
        of_system(CURATE),
        lambda w: w.field,
        lambda w: {"description": "Mine", "owner": "me", "tags": ["x"]},
    ),
    "PATCH fields/{pk}": case(of_system(CURATE), lambda w: w.field, lambda w: {"description": "Mine"}),
    "DELETE fields/{pk}": case(of_system(PUBLISH), lambda w: w.spare_field),
    "GET dataset-schemas": case(rows_of_systems(SEE)),
    "POST dataset-schemas": (
        *case(of_system(PUBLISH), body=lambda w: {"dataset_id": w.spare_dataset.pk}, name="draft"),
        *case(
            of_system(PUBLISH),
            body=lambda w: {"dataset_id": w.spare_dataset.pk, "document": w.document},
            name="document",
        ),
        *case(
            of_system(PUBLISH),
            body=lambda w: {"items": [{"dataset_id": w.spare_dataset.pk}]},
            name="several",
        ),
    ),
    "GET dataset-schemas/{pk}": case(of_system(SEE), lambda w: w.draft),
    "PUT dataset-schemas/{pk}": case(
        of_system(PUBLISH),
        lambda w: w.draft,
        lambda w: {"dataset_id": w.dataset.pk, "comment": "x"},
    ),
    "PATCH dataset-schemas/{pk}": case(of_system(PUBLISH), lambda w: w.draft, lambda w: {"comment": "x"}),
    "DELETE dataset-schemas/{pk}": case(of_system(PUBLISH), lambda w: w.draft),
    "POST dataset-schemas/{pk}/publish": case(of_system(PUBLISH), lambda w: w.draft),
    "GET field-bindings": case(rows_of_systems(SEE)),
    "POST field-bindings": case(
        of_system(PUBLISH),
        body=lambda w: {
            "dataset_schema_id": w.draft.pk,
            "field_id": w.spare_field.pk,
            "position": 7,
            "native_type": "text",
        },
    ),
    "GET field-bindings/{pk}": case(of_system(SEE), lambda w: w.binding),
    "PUT field-bindings/{pk}": case(
        of_system(PUBLISH),
        lambda w: w.binding,
        lambda w: {
            "dataset_schema_id": w.draft.pk,
            "field_id": w.binding.field_id,
            "position": 3,
            "native_type": "text",
        },
    ),
    "PATCH field-bindings/{pk}": case(of_system(PUBLISH), lambda w: w.binding, lambda w: {"comment": "x"}),
    "DELETE field-bindings/{pk}": case(of_system(PUBLISH), lambda w: w.binding),
    # Types with parameters are shared by all systems.
    "GET type-instances": case(SEEN),
    "POST type-instances": case(
        anywhere(PUBLISH, TYPES),
        body=lambda w: {"data_type_id": w.numeric.pk, "type_params": {"precision": 7, "scale": 1}},
    ),
    "GET type-instances/{pk}": case(SEEN, lambda w: w.type_instance),
    "GET type-instances/{pk}/tree": case(SEEN, lambda w: w.type_instance),
    "PUT type-instances/{pk}": case(NOBODY, lambda w: w.type_instance, lambda w: {"type_params": {}}),
    "PATCH type-instances/{pk}": case(NOBODY, lambda w: w.type_instance, lambda w: {"slot": ""}),
    "DELETE type-instances/{pk}": case(anywhere(PUBLISH, TYPES), lambda w: w.type_instance),
    # Personal data.
    "GET field-tags": case(rows_of_systems(SEE)),
    "POST field-tags": case(
        of_system(CURATE), body=lambda w: {"field_id": w.field.pk, "tag": w.spare_tag.code}
    ),
    "GET field-tags/{pk}": case(of_system(SEE), lambda w: w.suggestion),
    "DELETE field-tags/{pk}": case(of_system(DECIDE), lambda w: w.confirmed),
    "POST field-tags/{pk}/keep": case(of_system(DECIDE), lambda w: w.asked_to_go),
    "POST field-tags/{pk}/reopen": case(of_system(DECIDE), lambda w: w.refused),
    "POST field-tags/suggest": case(of_system(DECIDE), body=lambda w: {"system": w.here.code}),
    "POST field-tags/undo": case(of_system(DECIDE), body=lambda w: {"batch": w.suggestion.batch}),
    "POST field-tags/decide": (
        *case(of_system(DECIDE), body=lambda w: {"accept": [w.suggestion.pk]}, name="accept"),
        *case(
            of_system(DECIDE),
            body=lambda w: {"reject": [{"id": w.suggestion.pk, "reason": "no"}]},
            name="reject",
        ),
    ),
    # Crawls and reviews.
    "GET crawl-plans": case(rows_of_systems(SEE)),
    "POST crawl-plans": case(of_system(SYSTEMS), body=lambda w: {"system": w.here.code, "cron": "0 4 * * *"}),
    "GET crawl-plans/{pk}": case(of_system(SEE), lambda w: w.plan),
    "PUT crawl-plans/{pk}": case(
        of_system(SYSTEMS), lambda w: w.plan, lambda w: {"system": w.here.code, "cron": "0 5 * * *"}
    ),
    "PATCH crawl-plans/{pk}": case(of_system(SYSTEMS), lambda w: w.plan, lambda w: {"cron": "0 5 * * *"}),
    "DELETE crawl-plans/{pk}": case(of_system(SYSTEMS), lambda w: w.plan),
    "POST crawl-plans/preview": case(
        of_system(CRAWL), body=lambda w: {"system": w.here.code, "scope": {"tables": ["a*"]}}
    ),
    "GET crawl-runs": case(rows_of_systems(SEE)),
    "POST crawl-runs": (
        *case(of_system(CRAWL), body=lambda w: {"system": w.here.code}, name="start"),
        *case(
            of_system(CRAWL), body=lambda w: {"system": w.here.code, "snapshot": w.snapshot}, name="upload"
        ),
    ),
    "GET crawl-runs/{pk}": case(of_system(SEE), lambda w: w.run),
    "GET crawl-runs/{pk}/report": case(of_system(SEE), lambda w: w.run),
    "POST crawl-runs/{pk}/cancel": case(of_system(CRAWL), lambda w: w.queued_run),
    "POST crawl-runs/{pk}/retry": case(of_system(CRAWL), lambda w: w.run),
    "POST crawl-runs/{pk}/decide-and-apply": case(
        of_system(DECIDE), lambda w: w.run, lambda w: {"approve": "all"}
    ),
    "GET proposals": case(rows_of_systems(SEE)),
    "POST proposals": case(
        of_system(PUBLISH),
        body=lambda w: {
            "dataset_id": w.dataset.pk,
            "document": {"fields": [{"name": "proposed", "native_type": "text"}]},
        },
    ),
    "POST proposals/import": case(
        of_system(PUBLISH),
        body=lambda w: {
            "system": w.here.code,
            "document": {
                "tables": [
                    {
                        "id": "1",
                        "name": "drawn",
                        "fields": [{"id": "2", "name": "n", "type": {"name": "int"}}],
                    }
                ]
            },
        },
    ),
    "GET proposals/{pk}": case(of_system(SEE), lambda w: w.proposal),
    "POST proposals/{pk}/decide": case(of_system(DECIDE), lambda w: w.proposal, lambda w: {"approve": "all"}),
    "POST proposals/{pk}/split": case(
        of_system(DECIDE), lambda w: w.corrected, lambda w: {"change_id": w.change("rename_field")}
    ),
    "POST proposals/{pk}/pair": case(
        of_system(DECIDE),
        lambda w: w.corrected,
        lambda w: {"drop_id": w.change("drop_field"), "add_id": w.change("add_field")},
    ),
    "POST proposals/{pk}/comment": case(
        of_system(CRAWL),
        lambda w: w.corrected,
        lambda w: {"change_id": w.change("rename_field"), "text": "Why?"},
    ),
    "POST proposals/{pk}/apply": case(of_system(DECIDE), lambda w: w.proposal),
    **LINEAGE_RULES,
    # The log.
    "GET audit": case(rows_of_systems(AUDIT)),
    "GET audit/verify": case(everything(AUDIT)),
    "GET audit/{pk}": case(of_system(AUDIT), lambda w: w.entry),
}
# Doors that write and leave no entry in the log, because the row itself says who did what and when.
UNRECORDED = frozenset(
    {
        "POST type-instances",
        "DELETE type-instances/{pk}",
        "POST metadata",
        "POST lineage",
        "POST lineage/batch",
        "POST crawl-runs",
        "POST crawl-runs/{pk}/cancel",
        "POST crawl-runs/{pk}/retry",
        "POST proposals/{pk}/decide",
        "POST proposals/{pk}/apply",
    }
)
# Doors that only answer a question.
QUESTIONS = frozenset(
    {
        "POST crawl-plans/preview",
        "POST data-types/{pk}/render",
        "POST types/parse",
        "POST compatibility",
        "POST casts",
        "POST pii/classify",
        "POST datasets/{pk}/check",
    }
)
