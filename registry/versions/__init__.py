"""The only writer of schema versions, of the fields in them and of their types."""

from registry.versions.drafts import (
    add_binding,
    add_draft,
    add_field,
    add_type_instance,
    delete_binding,
    delete_draft,
    delete_field,
    delete_type_instance,
    publish_draft,
    update_binding,
    update_draft,
)
from registry.versions.levels import Approval, judge
from registry.versions.publication import Publication
from registry.versions.publish import Published, publish, publish_many, retire

__all__ = [
    "Approval",
    "Publication",
    "Published",
    "add_binding",
    "add_draft",
    "add_field",
    "add_type_instance",
    "delete_binding",
    "delete_draft",
    "delete_field",
    "delete_type_instance",
    "judge",
    "publish",
    "publish_draft",
    "publish_many",
    "retire",
    "update_binding",
    "update_draft",
]
