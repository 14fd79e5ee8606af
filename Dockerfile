# The product's image: api (the default), worker, desk and codec server differ by their command alone, and so does the
# records' tool. The sandbox has a target of its own. glibc and not musl: Temporal's core is a native library built
# against it.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/node scripts/node
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.js scripts/programs.js scripts/supported-node.js scripts/unless-built.js scripts/
COPY src src
RUN node scripts/build.js --production

FROM build AS build-sandbox
COPY tsconfig.tools.json ./
COPY sandbox sandbox
RUN node node_modules/@typescript/native/bin/tsc -p tsconfig.tools.json

FROM build AS prune
COPY scripts/sbom.js scripts/
RUN node scripts/sbom.js > sbom.cdx.json
RUN npm prune --omit=dev
# Temporal's core comes for five platforms; the image has one.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM node:24.21.0-bookworm-slim AS base
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=prune /app/package.json /app/sbom.cdx.json ./
COPY --from=prune /app/node_modules node_modules
# The user `node`, by number: Kubernetes can't tell by a name that it isn't root.
USER 1000:1000

# The provider, played: docker build --target sandbox
FROM base AS sandbox
COPY --from=build-sandbox /app/build build
CMD ["node", "build/sandbox/main.js"]

# The default target, since it is the last.
FROM base AS product
COPY --from=build /app/lib lib
COPY deploy/worker-health.js deploy/
# Node is process 1 and gets the signals: each process stops by itself on SIGTERM: within ten seconds, and a worker
# within its WORKER_SHUTDOWN_GRACE.
CMD ["node", "lib/server.js"]
