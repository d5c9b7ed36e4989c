"""What the API's description calls sets of choices that several things have under the same name. Settings read it."""

NAMES_OF_CHOICES = {
    "RiskEnum": "crawling.models.Change.Risk",
    "DatasetKindEnum": "registry.models.Dataset.Kind",
    "DatasetStatusEnum": "registry.models.Dataset.Status",
    "LineageEventKindEnum": "lineage.models.LineageEvent.Kind",
    "OutboxKindEnum": "lineage.models.OutboxMessage.Kind",
    "OutboxStatusEnum": "lineage.models.OutboxMessage.Status",
}
