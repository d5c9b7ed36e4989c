"""How much longer `manage.py crawl` of an unchanged database takes than a process that only reads its catalogue.

Both are whole processes with their start. Where DataHub's command is on PATH, it crawls the same database once.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from bench.measuring import in_turn, process
from bench.own import SYSTEM, environment, make_source
from tests.servers import PostgresServer

TABLES = int(os.environ.get("BENCH_TABLES", "5000"))


def main() -> None:
    server = PostgresServer()
    try:
        source = make_source(server, TABLES)
        own = server.create_database("own")
        process([sys.executable, "bench/own.py", "prepare", own, source])()
        process([sys.executable, "bench/own.py", "approve", own])()
        server.execute("VACUUM ANALYZE", database="own")
        crawl = process([sys.executable, "manage.py", "crawl", SYSTEM], **environment(own))
        floor = process([sys.executable, "bench/floors.py", source.replace("+psycopg", "")])
        ratio = in_turn(crawl, floor)
        print(ratio.line(f"crawl, compare, report: {TABLES} tables, unchanged", "only read, whole process"))
        datahub = shutil.which("datahub")
        if datahub:
            peer = _datahub(datahub, server.port)
            print(
                f"{'DataHub, the same database':<46} {peer:8.3f} s   {peer / ratio.figure:.1f} times as long"
            )
    finally:
        server.close()


def _datahub(command: str, port: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder) / "recipe.yml"
        config = f"{{host_port: '127.0.0.1:{port}', database: source, username: postgres, password: ''}}"
        recipe.write_text(
            f"source: {{type: postgres, config: {config}}}\n"
            f"sink: {{type: file, config: {{filename: '{folder}/out.json'}}}}\n"
        )
        return process([command, "ingest", "-c", str(recipe)], DATAHUB_TELEMETRY_ENABLED="false")()


if __name__ == "__main__":
    main()
