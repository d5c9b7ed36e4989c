"""The test servers themselves: they answer, they can be stopped and started, and their absence is told."""

from __future__ import annotations

import psycopg
import pytest
import redis
from sqlalchemy import create_engine, text

from tests.processes import NoServerError
from tests.servers import KafkaServer, MariaDBServer, PostgresServer, RedisServer, open_server


def test_postgres_gives_databases_and_asks_members_of_pw_required_for_a_password(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.create_database()
    postgres_server.execute("CREATE ROLE guarded LOGIN PASSWORD 'right'; GRANT pw_required TO guarded")
    try:
        engine = create_engine(url)
        with engine.connect() as connection:
            assert connection.scalar(text("select count(*) from information_schema.tables")) > 0
        engine.dispose()
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(f"postgresql://guarded:wrong@127.0.0.1:{postgres_server.port}/postgres")
    finally:
        postgres_server.execute("DROP ROLE guarded")


def test_mariadb_gives_databases(mariadb_server: MariaDBServer) -> None:
    engine = create_engine(mariadb_server.create_database(charset="utf8mb4"))
    with engine.connect() as connection:
        assert "MariaDB" in connection.scalar(text("select version()"))
    engine.dispose()


def test_redis_answers(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.create_database()) as client:
        assert client.ping()


def test_kafka_takes_and_returns_a_message(kafka_server: KafkaServer) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    topic = kafka_server.create_database()
    producer = KafkaProducer(bootstrap_servers=kafka_server.url)
    producer.send(topic, b"hello").get(timeout=10)
    producer.close()
    consumer = KafkaConsumer(
        topic, bootstrap_servers=kafka_server.url, auto_offset_reset="earliest", consumer_timeout_ms=10_000
    )
    assert next(consumer).value == b"hello"
    consumer.close()


def test_kafka_keeps_its_messages_over_a_restart(kafka_server: KafkaServer) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    if not kafka_server.is_ours:
        pytest.skip("the server is not ours to stop")
    topic = kafka_server.create_database()
    producer = KafkaProducer(bootstrap_servers=kafka_server.url)
    producer.send(topic, b"kept", key=b"k").get(timeout=10)
    producer.close()
    kafka_server.stop()
    kafka_server.start()
    consumer = KafkaConsumer(
        topic,
        bootstrap_servers=kafka_server.url,
        auto_offset_reset="earliest",
        group_id=f"{topic}-readers",
        consumer_timeout_ms=20_000,
    )
    message = next(consumer)
    assert (message.key, message.value) == (b"k", b"kept")
    consumer.close()


def test_a_stopped_server_keeps_its_data_and_its_port(postgres_server: PostgresServer) -> None:
    if not postgres_server.is_ours:
        pytest.skip("the server is not ours to stop")
    url = postgres_server.create_database("kept").replace("+psycopg", "")
    postgres_server.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=2)
    postgres_server.start()
    psycopg.connect(url).close()
    postgres_server.drop_database("kept")


def test_an_address_in_the_environment_is_used_and_is_not_ours_to_stop() -> None:
    server = open_server(MariaDBServer, environ={"AIDE_TEST_MARIADB_URL": "mysql://u:p@db.example/x"})
    assert server.url == "mysql+pymysql://u:p@db.example/x"
    with pytest.raises(NoServerError, match="not ours"):
        server.stop()
