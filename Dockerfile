# elephan in a container: docker build -t elephan . && docker run --rm -v "$PWD:/work" elephan run sawtooth
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv make && rm -rf /var/lib/apt/lists/*
WORKDIR /elephan
COPY . .
RUN make wheel

FROM python:3.11-slim-bookworm
COPY --from=build /elephan/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl && useradd --create-home elephan
USER elephan
WORKDIR /work
# The page of `elephan explore` needs --host 0.0.0.0 and -p 8230:8230.
EXPOSE 8230
ENTRYPOINT ["elephan"]
CMD ["--help"]
