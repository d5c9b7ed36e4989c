"""Uploading a file of descriptions, owners and tags. What it would do is shown by the page of its selection."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from aide.desk.models import Subject
from aide.desk.roundtrip import matching, sheet


class UploadForm(forms.Form):
    """One file."""

    file = forms.FileField(label="CSV file", widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}))

    def __init__(self, data: Any, files: Any, *, subject: Subject) -> None:
        super().__init__(data, files, label_suffix="")
        self.subject = subject
        self.sheet = sheet.Sheet()

    def clean_file(self) -> Any:
        given = self.cleaned_data["file"]
        if given.size > sheet.MOST_BYTES:
            raise forms.ValidationError("The file is larger than 5 MiB. Upload it in parts.")
        try:
            self.sheet = sheet.read(given.read(), subject=self.subject)
        except sheet.SheetRefused as error:
            raise forms.ValidationError(str(error)) from error
        return given


def upload(request: HttpRequest, subject: Subject) -> HttpResponse:
    """The form, and the next page once a file could be read."""
    is_sent = request.method == "POST"
    form = UploadForm(request.POST if is_sent else None, request.FILES if is_sent else None, subject=subject)
    if is_sent and form.is_valid():
        name = str(form.cleaned_data["file"].name)
        selection = matching.take(form.sheet, subject=subject, by=request.user, file_name=name)
        return HttpResponseRedirect(reverse("admin:desk_selection", args=[selection.pk]))
    context = {
        **admin.site.each_context(request),
        "title": f"Upload descriptions, owners and tags of {subject}s",
        "form": form,
        "subject": subject,
        "list_url": reverse(f"admin:registry_{subject}_changelist"),
        "editing_url": reverse(f"admin:registry_{subject}_for_editing"),
        "editable": sheet.EDITABLE[subject],
    }
    return render(request, "admin/bulk/upload.html", context, status=422 if form.errors else 200)
