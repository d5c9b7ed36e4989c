"""Form fields and the base form that screens share."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class WordsField(forms.CharField):
    """A list of words, written with commas between them. Cleans to a list without repetitions."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(word) for word in value) if isinstance(value, (list, tuple)) else value

    def clean(self, value: Any) -> list[str]:
        text = super().clean(value) or ""
        return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.clean(data)


class LinesField(WordsField):
    """A list of texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 4, "class": "code"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(str(line) for line in value) if isinstance(value, (list, tuple)) else value

    def clean(self, value: Any) -> list[str]:
        text = forms.CharField.clean(self, value) or ""
        return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


class PrettyJSONField(forms.JSONField):
    """JSON as people read it: indented, in a monospace box, with the place of a mistake in words."""

    widget = forms.Textarea(attrs={"rows": 8, "class": "code", "spellcheck": "false"})

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("required", False)
        self.empty: Any = kwargs.pop("empty", dict)
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False) if value is not None else ""

    def to_python(self, value: Any) -> Any:
        if value in self.empty_values:
            return self.empty()
        if isinstance(value, (list, dict)):
            return value
        try:
            return json.loads(value)
        except json.JSONDecodeError as error:
            message = f"This is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
            raise ValidationError(message, code="invalid") from error

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True


class VersionedForm(forms.ModelForm):
    """A form that refuses to write over what someone else saved since the page was opened."""

    seen_version = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        if self.instance.pk and "seen_version" in self.fields:
            self.fields["seen_version"].initial = getattr(self.instance, "row_version", None)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        seen = cleaned.get("seen_version")
        if self.instance.pk and seen is not None and seen != self._present_version():
            raise ValidationError(
                "Someone else saved this while you were editing. Nothing was saved; your text is kept below. "
                "Open the page again in another tab to see the new values, then save once more to replace them.",
                code="version_conflict",
            )
        return cleaned

    def _present_version(self) -> int | None:
        rows = type(self.instance)._default_manager.filter(pk=self.instance.pk)
        present = rows.values_list("row_version", flat=True).first()
        if present is not None and present != self.cleaned_data.get("seen_version"):
            # The next save of this very page is a deliberate replacement.
            data: Any = self.data.copy()  # type: ignore[attr-defined]
            data[self.add_prefix("seen_version")] = str(present)
            self.data = data
        return present
