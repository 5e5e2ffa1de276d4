# Scenthound in a container; docs/installation.md describes how to build and run it.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim-trixie AS build
# Names of extras, separated by commas: docs/installation.md lists them.
ARG EXTRAS=language
# The version of a compiler does not matter, and pinned ones disappear from the archive.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python -m venv /opt/scenthound \
    && /opt/scenthound/bin/pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]" \
    && /opt/scenthound/bin/python -c "from scenthound.native import _native" \
    && /opt/scenthound/bin/pip uninstall --yes pip

FROM python:${PYTHON}-slim-trixie
# `yes` adds Chromium for --render; EXTRAS must then contain `browser`.
ARG CHROMIUM=no
# Chromium must be as new as possible, because it reads pages of strangers.
# hadolint ignore=DL3008
RUN if [ "${CHROMIUM}" = yes ]; then \
        apt-get update \
        && apt-get install --yes --no-install-recommends chromium \
        && rm -rf /var/lib/apt/lists/*; \
    fi \
    && useradd --uid 1000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin scenthound \
    && install --directory --owner scenthound --group scenthound /crawls
COPY --from=build /opt/scenthound /opt/scenthound
# Users that `docker run --user` names have no home folder; caches go where everybody may write.
ENV PATH=/opt/scenthound/bin:${PATH} \
    HOME=/tmp \
    PYTHONUNBUFFERED=1
USER 1000:1000
VOLUME /crawls
WORKDIR /crawls
ENTRYPOINT ["scenthound"]
CMD ["--help"]
