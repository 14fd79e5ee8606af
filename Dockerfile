# One image for every process: api (the default), worker and sandbox differ by their command alone.
# glibc and not musl: Temporal's core is a native library built against it.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/node/package.json scripts/node/
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.js scripts/
COPY src src
RUN npm run build && npm prune --omit=dev
# Temporal's core comes for five platforms; the image has one.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 \
      ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM node:24-bookworm-slim
ENV NODE_ENV=production NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/lib lib
COPY deploy/worker-health.js deploy/
USER node
# Node is process 1 and gets the signals: each process stops by itself on SIGTERM, within ten seconds.
CMD ["node", "lib/server.js"]
