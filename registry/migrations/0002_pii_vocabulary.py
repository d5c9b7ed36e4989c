"""The kinds of personal data that AIDE knows from the start; people may edit them and add their own."""

from django.db import migrations

VOCABULARY = [
    ("person_name", "Name of a person", 2, ["GDPR"]),
    ("email", "E-mail address", 2, ["GDPR", "HIPAA"]),
    ("phone", "Phone number", 2, ["GDPR", "HIPAA"]),
    ("address", "Postal address", 2, ["GDPR", "HIPAA"]),
    ("birth_date", "Date of birth", 3, ["GDPR", "HIPAA"]),
    ("birth_place", "Place of birth", 2, ["GDPR"]),
    ("demographic", "Demographic trait", 2, ["GDPR"]),
    ("government_id", "Government identifier", 4, ["GDPR", "HIPAA"]),
    ("financial", "Financial data", 3, ["GDPR", "PCI DSS"]),
    ("health", "Health data", 4, ["GDPR", "HIPAA"]),
    ("special_category", "Special category", 4, ["GDPR"]),
    ("credential", "Credential", 4, []),
    ("online_id", "Online identifier", 2, ["GDPR", "HIPAA"]),
    ("location", "Location of a person", 3, ["GDPR"]),
    ("photo", "Photo of a person", 3, ["GDPR", "HIPAA"]),
    ("identifier", "Identifier of a person", 2, ["GDPR", "HIPAA"]),
    ("free_text", "Free text", 2, ["GDPR"]),
]


def load(apps, schema_editor):
    tag = apps.get_model("registry", "PIITag")
    tag.objects.bulk_create(
        tag(code=code, name=name, sensitivity=sensitivity, regimes=regimes)
        for code, name, sensitivity, regimes in VOCABULARY
    )


class Migration(migrations.Migration):
    dependencies = [("registry", "0001_initial")]
    operations = [migrations.RunPython(load, migrations.RunPython.noop)]
