# The product's image: api (the default), worker, desk and codec server differ by their command alone, and so do the
# migrations and the tool for payers' data. The sandbox has a target of its own. glibc and not musl: Temporal's core is
# a native library built against it.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/node scripts/node
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.js scripts/programs.js scripts/supported-node.js scripts/unless-built.js scripts/
COPY src src
# A clone that was made under a strict umask has files that its owner alone can read.
RUN node scripts/build.js --production && chmod -R a+rX lib package.json

FROM build AS build-sandbox
COPY tsconfig.tools.json ./
COPY sandbox sandbox
RUN node node_modules/@typescript/native/bin/tsc -p tsconfig.tools.json
RUN mkdir /journal && touch /journal/.keep

FROM build AS prune
COPY scripts/sbom.js scripts/
RUN node scripts/sbom.js > sbom.cdx.json
# Temporal's core comes for five platforms, and the image has one. The compiler is for bundling workflows, which is
# done. Nothing reads what packages bring for developers, but their licences stay with them.
RUN npm prune --omit=dev \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} + \
  && rm -r node_modules/@swc/core-* \
  && find node_modules -type f ! -iname 'licen[cs]e*' ! -iname 'notice*' ! -iname 'copying*' \
      \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.tsbuildinfo' -o -name '*.md' \
      -o -name '*.flow' \) -delete \
  && find node_modules -type d -empty -delete

# Node without npm, which no process needs, and without the headers that packages are compiled with.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS node
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /usr/local/share /opt/yarn* /usr/local/bin/npm \
      /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /var/lib/apt/lists/* /var/cache/apt/*

FROM scratch AS base
COPY --from=node / /
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=prune /app/node_modules node_modules
COPY --from=prune /app/package.json /app/sbom.cdx.json ./
COPY --chmod=644 LICENSE ./
COPY --chmod=644 deploy/http-health.js deploy/worker-health.js deploy/
# The user `node`, by number: Kubernetes can't tell by a name that it isn't root.
USER 1000:1000

# The provider, played: docker build --target sandbox
FROM base AS sandbox
COPY --from=build-sandbox /app/build build
COPY --from=build-sandbox --chown=1000:1000 /journal /journal
CMD ["node", "build/sandbox/main.js"]

# What docker-compose.yml stores in: PostgreSQL, with what backs it up. docker build --target postgres
FROM postgres:16.14@sha256:95206741a5b214807675e14165369d05b93a9cf692223b616d07cca227e74b0b AS postgres
RUN apt-get update && apt-get install -y --no-install-recommends pgbackrest && rm -rf /var/lib/apt/lists/* \
  && install -d -m 750 -o postgres -g postgres /var/lib/pgbackrest \
  && install -d -m 755 -o postgres -g postgres /metrics

# The default target, since it is the last.
FROM base AS product
COPY --from=build /app/lib lib
# Node is process 1 and gets the signals: each process stops by itself on SIGTERM: within ten seconds, and a worker
# within its WORKER_SHUTDOWN_GRACE.
CMD ["node", "lib/server.js"]
