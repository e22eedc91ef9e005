# Stage "dependencies" is thrown away; the image holds production packages and the source, which Node runs as it is.
ARG NODE_IMAGE=node:24-trixie-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages are Node itself, for machines without Node 24: this image has it.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache \
    TOOLWEIR_HOST=0.0.0.0 \
    TOOLWEIR_PORT=8787 \
    TOOLWEIR_STORE=sqlite:/data/toolweir.db
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json openapi.yaml ./
COPY src ./src
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.TOOLWEIR_PORT+'/healthz').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "src/main.ts"]
