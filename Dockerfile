# One image for web, worker and beat; docker-compose.yml says which command each runs.
FROM python:3.12-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app
RUN python -m venv /venv
COPY requirements.txt ./
COPY sdk ./sdk
RUN sed 's#^-e ./sdk#./sdk#' requirements.txt > runtime.txt && /venv/bin/pip install -r runtime.txt

FROM python:3.12-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin aide
WORKDIR /app
COPY --from=build /venv /venv
COPY manage.py ./
COPY aide ./aide
COPY registry ./registry
COPY lineage ./lineage
COPY crawling ./crawling
COPY templates ./templates
COPY static ./static
# Hashed static files and compiled modules are part of the image; only var/ can be written at run time.
RUN python -m compileall -q aide crawling lineage registry \
    && AIDE_SECRET_KEY=only-while-building-0123456789-abcdefghijklmnopqrstuvwxyz AIDE_ALLOWED_HOSTS=localhost \
    AIDE_DATABASE_URL=sqlite://:memory: python manage.py collectstatic --noinput \
    && chown -R aide var
USER aide
EXPOSE 8000
# Asks by the first name that the server answers to.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=6 CMD ["python", "-c", \
    "import os, urllib.request as r; host = os.environ['AIDE_ALLOWED_HOSTS'].split(',')[0].strip(' .*') or 'localhost'; \
    r.urlopen(r.Request('http://127.0.0.1:8000/health/live', headers={'Host': host}), timeout=4)"]
CMD ["python", "manage.py", "serve", "--host", "0.0.0.0", "--port", "8000", "--workers", "2"]
