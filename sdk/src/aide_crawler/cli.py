"""The command `aide-crawler`: look at a database, and hand what was seen to an AIDE server.

Stdout holds only the answer, and trouble is one sentence on stderr. Exit 0: done; 1: trouble;
2: there are changes, where `--detailed-exitcode` asked for that.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from aide_crawler.errors import CrawlError, MetastoreError, ScopeInvalid
from aide_crawler.inspection import inspect as look
from aide_crawler.rendering import as_json, as_text
from aide_crawler.scope import Scope, split_list
from aide_crawler.urls import read_url, redact, secrets_of

DONE, TROUBLE, CHANGES = 0, 1, 2
_URL_VARIABLE = "AIDE_CRAWLER_CONNECTION_URL"
_UNNAMED = re.compile(r"(unexpected extra argument|No such command).*", re.DOTALL)
"""What the parser says of a word too many, with the word, which may be a URL whose option was forgotten."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Look at the schemas of a database, and compare them with an AIDE server.",
)


class Format(StrEnum):
    """How the answer is written."""

    TEXT = "text"
    JSON = "json"


class _TroubleError(Exception):
    """Something the user must be told in one sentence."""


_ConnectionUrl = Annotated[
    str | None,
    typer.Option(
        envvar=_URL_VARIABLE, show_default=False, help="SQLAlchemy URL of the database; may hold a password."
    ),
]
_Names = Annotated[list[str] | None, typer.Option(show_default=False, help="Names or patterns, by comma.")]
_Format = Annotated[Format, typer.Option("--format", help="How the answer is written.")]
_Output = Annotated[
    Path | None, typer.Option("-o", "--output", show_default=False, help="Write the answer to this file.")
]


@app.command()
def inspect(
    connection_url: _ConnectionUrl = None,
    tables: _Names = None,
    exclude_tables: _Names = None,
    schemas: _Names = None,
    exclude_schemas: _Names = None,
    answer_format: _Format = Format.TEXT,
    output: _Output = None,
) -> int:
    """Print what a database holds, without any server."""
    url = _required_url(connection_url)
    scope = _scope(schemas, tables, exclude_schemas, exclude_tables)
    snapshot = look(url, scope=scope)
    _write(as_json(snapshot) if answer_format is Format.JSON else as_text(snapshot), output)
    return DONE


@app.command()
def crawl(
    system_code: Annotated[
        str | None, typer.Option(show_default=False, help="Code of the system in the AIDE server.")
    ] = None,
    connection_url: _ConnectionUrl = None,
    tables: _Names = None,
    exclude_tables: _Names = None,
    schemas: _Names = None,
    exclude_schemas: _Names = None,
    answer_format: _Format = Format.TEXT,
    output: _Output = None,
    metastore_url: Annotated[
        str, typer.Option(envvar="AIDE_METASTORE_URL", help="Address of the AIDE server.")
    ] = "http://localhost:8000",
    metastore_user: Annotated[
        str | None, typer.Option(envvar="AIDE_METASTORE_USER", show_default=False, help="E-mail to log in.")
    ] = None,
    metastore_password: Annotated[
        str | None,
        typer.Option(envvar="AIDE_METASTORE_PASSWORD", show_default=False, help="Password to log in."),
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Compare only; propose nothing in the server.")
    ] = False,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit with 2 when there are changes.")
    ] = False,
) -> int:
    """Compare a database with what an AIDE server knows, and propose the changes there."""
    from aide_crawler.metastore import Credentials, Metastore, has_changes  # slow, and only needed here

    if not system_code:
        raise _TroubleError("Give the code of the system by --system-code.")
    url = _required_url(connection_url)
    read_url(url)
    scope = _scope(schemas, tables, exclude_schemas, exclude_tables)
    credentials = Credentials(
        user=metastore_user,
        password=metastore_password,
        api_key=None if metastore_user else os.environ.get("AIDE_METASTORE_API_KEY") or None,
    )
    with Metastore(metastore_url, credentials) as metastore:
        metastore.log_in()
        flavor = metastore.flavor_of(system_code)
        if not metastore.has_types(flavor):
            raise _TroubleError(
                f"The AIDE server knows no data types of the flavor {flavor} of the system {system_code}; "
                "load them there first."
            )
        snapshot = look(url, scope=scope)
        run_id = metastore.send_snapshot(
            system_code, snapshot.to_dict(), snapshot.scope.to_dict(), dry_run=report_only
        )
        del snapshot
        report: dict[str, Any] = {}
        if detailed_exitcode or answer_format is Format.JSON:
            report = metastore.report_json(run_id)
        if answer_format is Format.JSON:
            answer = _json_text(report)
        else:
            answer = metastore.report_text(run_id)
    _write([answer if answer.endswith("\n") else answer + "\n"], output)
    return CHANGES if detailed_exitcode and has_changes(report) else DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; nothing but the code and the two streams leaves."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = typer.main.get_command(app)
    sentence = ""
    try:
        result = command.main(args=arguments, prog_name="aide-crawler", standalone_mode=False)
        return result if isinstance(result, int) else DONE
    except (CrawlError, MetastoreError, ScopeInvalid, _TroubleError) as error:
        sentence = str(error)
    except KeyboardInterrupt:
        sentence = "Interrupted."
    except BrokenPipeError:
        _forget_stdout()
        return TROUBLE
    except Exception as error:  # noqa: BLE001 - the user gets a sentence, never a traceback
        sentence = _sentence(error)
    sys.stderr.write(_without_secrets(sentence, arguments) + "\n")
    return TROUBLE


def _sentence(error: Exception) -> str:
    """One sentence for a wrong use of the command, or for what nobody expected."""
    message = getattr(error, "format_message", None)
    if callable(message):
        text = _UNNAMED.sub(r"\1", " ".join(str(message()).split()))
        text = text if text.endswith(".") else f"{text}."
        return f"{text} Try aide-crawler --help."
    if type(error).__name__ == "Abort":
        return "Interrupted."
    return f"Something unexpected happened ({type(error).__name__})."


def _without_secrets(sentence: str, arguments: Sequence[str]) -> str:
    """The sentence with everything hidden that may be a secret in the arguments or the environment."""
    secrets = {os.environ.get(name) for name in ("AIDE_METASTORE_PASSWORD", "AIDE_METASTORE_API_KEY")}
    urls = {os.environ.get(_URL_VARIABLE)}
    for option, value in zip(arguments, [*arguments[1:], ""], strict=False):
        name, equals, attached = option.partition("=")
        if name == "--metastore-password":
            secrets.add(attached if equals else value)
        elif name == "--connection-url":
            urls.add(attached if equals else value)
        elif "://" in option:  # given where no URL belongs, and repeated by what says so
            urls.add(option)
    for url in filter(None, urls):
        try:
            secrets.update(secrets_of(read_url(url)))
        except CrawlError:
            secrets.add(url.partition("://")[2] or url)
    return redact(sentence, secrets)


def _required_url(url: str | None) -> str:
    if not url:
        raise _TroubleError(f"Give the database's URL by --connection-url or {_URL_VARIABLE}.")
    return url


def _scope(*lists: list[str] | None) -> Scope:
    schemas, tables, exclude_schemas, exclude_tables = (
        tuple(name for text in given or () for name in split_list(text)) for given in lists
    )
    return Scope(schemas, tables, exclude_schemas, exclude_tables)


def _json_text(report: dict[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, indent=2)


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is None:
        stream = sys.stdout
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
        for piece in pieces:
            stream.write(piece)
        stream.flush()
        return
    problem = None
    try:
        with output.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.writelines(pieces)
    except OSError as error:
        problem = f"The file {output} cannot be written: {error.strerror}."
    if problem is not None:
        raise _TroubleError(problem)


def _forget_stdout() -> None:
    """Whoever read our answer has gone; let Python not complain of it at its exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
