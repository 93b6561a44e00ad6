# A machine in which `make repro` and `make test` pass:
#   docker build --tag espalier .
#   docker run --rm --interactive --tty espalier              # a shell; then `make repro`, `make test`
FROM python:3.11-slim-bookworm AS machine
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*
# The CPU build of PyTorch. An empty value selects PyPI's, which contains CUDA and takes 5 GB more.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
ENV PIP_EXTRA_INDEX_URL=$PIP_EXTRA_INDEX_URL PIP_ROOT_USER_ACTION=ignore

FROM machine
WORKDIR /espalier
COPY . .
RUN make .venv/ready
ENV PATH=/espalier/.venv/bin:$PATH
CMD ["bash"]
