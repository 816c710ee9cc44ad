# Build: docker build -t picobot .
# Run:   docker run -d --name picobot -p 127.0.0.1:18880:18880 -v picobot:/data --env-file .env picobot
# See docs/install.md.

FROM node:20-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --include=dev --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs

# The same packages without what only building needs; the compilers stay behind in this stage.
FROM node:20-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:20-bookworm-slim
ENV NODE_ENV=production PICOBOT_HOME=/data PICOBOT_HOST=0.0.0.0
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY scripts/bootstrap.mjs scripts/build-state.mjs ./scripts/
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 18880
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PICOBOT_PORT || 18880}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node.js itself is the first process and handles SIGTERM, so `docker stop` lets running turns finish.
STOPSIGNAL SIGTERM
CMD ["node", "bin/picobot.mjs", "start"]
