"""The resources of the API, one class for each address. `Resources` is what both clients have."""

from __future__ import annotations

from typing import Generic

from aide_sdk.operations import Mode, Runner
from aide_sdk.resources.crawling import CrawlPlans, CrawlRuns, Proposals
from aide_sdk.resources.datasets import Datasets, DatasetSchemas, FieldBindings, Fields, TypeInstances
from aide_sdk.resources.events import Metadata, MetadataSchemas, Outbox
from aide_sdk.resources.lineage import (
    Lineage,
    LineageEvents,
    LineageJobs,
    LineageNames,
    LineageRuns,
    Marquez,
)
from aide_sdk.resources.people import ApiKeys, Session, Users
from aide_sdk.resources.server import Audit, Contracts, Health
from aide_sdk.resources.systems import (
    CastRules,
    CredentialRefs,
    DataTypes,
    SystemFlavors,
    SystemKinds,
    Systems,
)
from aide_sdk.resources.tags import FieldTags, PIIClassifier, PIITags
from aide_sdk.resources.types import Casts, Compatibility, Types


class Resources(Generic[Mode]):
    """An attribute for each address, named like it (`/crawl-runs` → `crawl_runs`)."""

    def __init__(self, runner: Runner) -> None:
        self.session: Session[Mode] = Session(runner)
        self.users: Users[Mode] = Users(runner)
        self.api_keys: ApiKeys[Mode] = ApiKeys(runner)
        self.system_kinds: SystemKinds[Mode] = SystemKinds(runner)
        self.system_flavors: SystemFlavors[Mode] = SystemFlavors(runner)
        self.data_types: DataTypes[Mode] = DataTypes(runner)
        self.credential_refs: CredentialRefs[Mode] = CredentialRefs(runner)
        self.systems: Systems[Mode] = Systems(runner)
        self.datasets: Datasets[Mode] = Datasets(runner)
        self.fields: Fields[Mode] = Fields(runner)
        self.dataset_schemas: DatasetSchemas[Mode] = DatasetSchemas(runner)
        self.field_bindings: FieldBindings[Mode] = FieldBindings(runner)
        self.type_instances: TypeInstances[Mode] = TypeInstances(runner)
        self.cast_rules: CastRules[Mode] = CastRules(runner)
        self.types: Types[Mode] = Types(runner)
        self.compatibility: Compatibility[Mode] = Compatibility(runner)
        self.casts: Casts[Mode] = Casts(runner)
        self.pii_tags: PIITags[Mode] = PIITags(runner)
        self.field_tags: FieldTags[Mode] = FieldTags(runner)
        self.pii: PIIClassifier[Mode] = PIIClassifier(runner)
        self.crawl_plans: CrawlPlans[Mode] = CrawlPlans(runner)
        self.crawl_runs: CrawlRuns[Mode] = CrawlRuns(runner)
        self.proposals: Proposals[Mode] = Proposals(runner)
        self.metadata: Metadata[Mode] = Metadata(runner)
        self.lineage: Lineage[Mode] = Lineage(runner)
        self.lineage_events: LineageEvents[Mode] = LineageEvents(runner)
        self.metadata_schemas: MetadataSchemas[Mode] = MetadataSchemas(runner)
        self.lineage_jobs: LineageJobs[Mode] = LineageJobs(runner)
        self.lineage_runs: LineageRuns[Mode] = LineageRuns(runner)
        self.lineage_names: LineageNames[Mode] = LineageNames(runner)
        self.marquez: Marquez[Mode] = Marquez(runner)
        self.outbox: Outbox[Mode] = Outbox(runner)
        self.audit: Audit[Mode] = Audit(runner)
        self.contracts: Contracts[Mode] = Contracts(runner)
        self.health: Health[Mode] = Health(runner)


__all__ = ["Resources"]
