{{- define "sanaga.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "sanaga.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "sanaga.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sanaga.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "sanaga.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Labels that select a component's pods: (list $ "api") */}}
{{- define "sanaga.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "sanaga.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "sanaga.labels" -}}
{{- $root := index . 0 -}}
{{ include "sanaga.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | quote }}
{{- end -}}

{{/* The image: (list $ tag), where an empty tag is that of the values. */}}
{{- define "sanaga.image" -}}
{{- $root := index . 0 -}}
{{- $image := $root.Values.image -}}
{{- if index . 1 -}}
{{- printf "%s:%s" $image.repository (index . 1) -}}
{{- else if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default $root.Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "sanaga.buildId" -}}
{{- $own := default .Values.image.tag .Values.worker.versioning.buildId -}}
{{- if and .Values.image.digest (not .Values.worker.versioning.buildId) -}}
{{- fail "worker.versioning.buildId is not set: with image.digest, say yourself what this version is called" -}}
{{- end -}}
{{- default .Chart.AppVersion $own -}}
{{- end -}}

{{/* A duration such as 20s or 2m in whole seconds, rounded up. */}}
{{- define "sanaga.seconds" -}}
{{- $number := regexFind "^[0-9]+(\\.[0-9]+)?" . -}}
{{- $unit := trimPrefix $number . -}}
{{- $factor := get (dict "ms" 0.001 "s" 1.0 "m" 60.0) $unit -}}
{{- mulf (float64 $number) $factor | ceil | int -}}
{{- end -}}

{{/* What can't be said in values.schema.json, as sentences. */}}
{{- define "sanaga.check" -}}
{{- $values := .Values -}}
{{- if not $values.temporal.address -}}
{{- fail "temporal.address is not set: it must be host:port of your Temporal server" -}}
{{- end -}}
{{- if not (regexMatch "^([A-Za-z0-9._-]+|\\[[0-9a-fA-F:]+\\]):[0-9]{1,5}$" $values.temporal.address) -}}
{{- fail (printf "temporal.address (%s) must be host:port, such as temporal-frontend.temporal.svc:7233" $values.temporal.address) -}}
{{- end -}}
{{- range $name, $tag := dict "image.tag" $values.image.tag "api.tag" $values.api.tag -}}
{{- if eq $tag "latest" -}}
{{- fail (printf "%s must not be latest: nobody could say which version runs, or go back to the last one" $name) -}}
{{- end -}}
{{- end -}}
{{- if $values.networkPolicy.enabled -}}
{{- $policy := $values.networkPolicy -}}
{{- $port := regexFind "[0-9]+$" $values.temporal.address -}}
{{- if ne $port (toString $policy.temporalPort) -}}
{{- fail (printf "networkPolicy.temporalPort is %v, but temporal.address has the port %s, which could not be reached" $policy.temporalPort $port) -}}
{{- end -}}
{{- range $name := list "collectionUrl" "payoutUrl" -}}
{{- $url := urlParse (index $values.provider $name) -}}
{{- $port := default (ternary "443" "80" (eq $url.scheme "https")) (trimPrefix ":" (regexFind ":[0-9]+$" $url.host)) -}}
{{- $ports := list -}}
{{- range $policy.providerPorts }}{{ $ports = append $ports (toString .) }}{{ end -}}
{{- if and (index $values.provider $name) (not (has $port $ports)) -}}
{{- fail (printf "networkPolicy.providerPorts hasn't the port %s of provider.%s, which could not be reached" $port $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := mustMergeOverwrite (dict) $values.settings $values.api.settings $values.worker.settings $values.codecServer.settings $values.desk.settings -}}
{{- if has $name (list "API_KEYS" "WEBHOOK_TOKEN" "PROVIDER_COLLECTION_API_USER" "PROVIDER_COLLECTION_API_KEY" "PROVIDER_PAYOUT_API_USER" "PROVIDER_PAYOUT_API_KEY" "MERCHANT_WEBHOOK_SECRET" "ENCRYPTION_KEYS" "CODEC_UI_TOKEN" "DATABASE_URL" "TEMPORAL_API_KEY" "TEMPORAL_TLS_CLIENT_KEY_DATA") -}}
{{- fail (printf "settings: %s is a secret. Put it into the Secret %s as %s" $name $values.secretName ($name | lower | replace "_" "-")) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "collectionUrl" "payoutUrl" -}}
{{- if not (index $values.provider $name) -}}
{{- fail (printf "provider.%s is not set: it must be the base address of the provider's service" $name) -}}
{{- end -}}
{{- if not (regexMatch "^(https://|http://(sandbox|localhost|127[.][0-9.]+|\\[::1\\])([:/]|$))" (index $values.provider $name)) -}}
{{- fail (printf "provider.%s must be an https address: by http, whoever is on the way reads the API key and people's numbers" $name) -}}
{{- end -}}
{{- end -}}
{{- if or (hasKey $values.api.settings "MAX_PAYOUTS_PER_DAY") (hasKey $values.worker.settings "MAX_PAYOUTS_PER_DAY") -}}
{{- fail "MAX_PAYOUTS_PER_DAY belongs into settings: the API counts by it when a payout is ordered, and a worker right before it is sent" -}}
{{- end -}}
{{- if and (eq $values.merchants "file") $values.merchantWebhookUrl -}}
{{- fail "merchantWebhookUrl can't be set with merchants: file. The merchants' file has each merchant's address" -}}
{{- end -}}
{{- if le (include "sanaga.seconds" $values.worker.shutdownGrace | int) (include "sanaga.seconds" $values.provider.timeout | int) -}}
{{- fail (printf "worker.shutdownGrace (%s) must be longer than provider.timeout (%s): otherwise a worker that stops cuts requests short, and each of them has to be looked for" $values.worker.shutdownGrace $values.provider.timeout) -}}
{{- end -}}
{{- range $name := list "api" "worker" -}}
{{- $scaling := (index $values $name).autoscaling -}}
{{- if lt (int $scaling.maxReplicas) (int $scaling.minReplicas) -}}
{{- fail (printf "%s.autoscaling.maxReplicas must be at least minReplicas" $name) -}}
{{- end -}}
{{- end -}}
{{- if le (int $values.api.terminationGracePeriod) (add (int $values.api.preStopDelay) 10 | int) -}}
{{- fail "api.terminationGracePeriod must be more than 10 s longer than api.preStopDelay: the API takes up to 10 s to stop" -}}
{{- end -}}
{{- range $name := list "api" "codecServer" "desk" -}}
{{- $component := index $values $name -}}
{{- $ingress := $component.ingress -}}
{{- if and $ingress.enabled (not $ingress.host) -}}
{{- fail (printf "%s.ingress.host is not set" $name) -}}
{{- end -}}
{{- if and $ingress.enabled (eq (int $component.trustedProxies) 0) -}}
{{- $why := ternary "it takes every request for plain http, and nobody can sign in" "all callers count as one, and one who tries wrong keys shuts all of them out" (eq $name "desk") -}}
{{- fail (printf "%s.trustedProxies is 0, but %s.ingress.enabled puts a proxy before it: set it to 1, or more if there are others before the Ingress. With 0, %s" $name $name $why) -}}
{{- end -}}
{{- end -}}
{{- if and $values.worker.autoscaling.enabled (or $values.temporal.tls.enabled $values.temporal.tls.caSecret) (not (or $values.temporal.apiKey $values.temporal.tls.clientCertSecret)) -}}
{{- fail "worker.autoscaling.enabled: KEDA connects to Temporal by TLS only with temporal.apiKey or temporal.tls.clientCertSecret" -}}
{{- end -}}
{{- if and $values.worker.versioning.previous (not $values.worker.versioning.enabled) -}}
{{- fail "worker.versioning.previous is set, but worker.versioning.enabled is false: without versions, old and new workers share all payments" -}}
{{- end -}}
{{- range $previous := $values.worker.versioning.previous -}}
{{- if eq $previous.buildId (include "sanaga.buildId" $) -}}
{{- fail (printf "worker.versioning.previous has %s, which is the version that is deployed" $previous.buildId) -}}
{{- end -}}
{{- end -}}
{{- if and $values.codecServer.enabled (not $values.encryption.enabled) -}}
{{- fail "codecServer.enabled needs encryption.enabled: there is nothing to decrypt" -}}
{{- end -}}
{{- end -}}

{{/*
  The keys of the Secret that a component reads, as a YAML list: (list $ "api")
*/}}
{{- define "sanaga.secretKeys" -}}
{{- $values := (index . 0).Values -}}
{{- $component := index . 1 -}}
{{- $keys := list -}}
{{- if has $component (list "api" "worker") -}}
{{- $keys = concat $keys (list "provider-collection-api-user" "provider-collection-api-key" "provider-payout-api-user" "provider-payout-api-key") -}}
{{- end -}}
{{- if has $component (list "api" "worker" "migration") }}{{ $keys = append $keys "database-url" }}{{ end -}}
{{- if and $values.temporal.apiKey (has $component (list "api" "worker" "replay")) }}{{ $keys = append $keys "temporal-api-key" }}{{ end -}}
{{- if eq $component "api" }}{{ $keys = append $keys "webhook-token" }}{{ end -}}
{{- if and (eq $component "replay") $values.encryption.enabled }}{{ $keys = append $keys "encryption-keys" }}{{ end -}}
{{- if has $component (list "api" "worker" "codec-server") -}}
{{- if $values.encryption.enabled }}{{ $keys = append $keys "encryption-keys" }}{{ end -}}
{{- if eq $values.merchants "file" -}}
{{- $keys = append $keys "merchants.json" -}}
{{- else if ne $component "worker" -}}
{{- $keys = append $keys "api-keys" -}}
{{- else if $values.merchantWebhookUrl -}}
{{- $keys = append $keys "merchant-webhook-secret" -}}
{{- end -}}
{{- end -}}
{{- if and (eq $component "codec-server") $values.codecServer.uiToken }}{{ $keys = append $keys "codec-ui-token" }}{{ end -}}
{{- toYaml $keys -}}
{{- end -}}

{{/*
  The settings of a component: (dict "root" $ "component" "worker" "settings" … "buildId" "1.4.0")
*/}}
{{- define "sanaga.env" -}}
{{- $values := .root.Values -}}
{{- $component := .component -}}
{{- $env := dict -}}
{{- if not (has $component (list "worker" "replay" "migration")) }}{{ $_ := set $env "HOST" "0.0.0.0" }}{{ end -}}
{{- if has $component (list "api" "worker" "replay") -}}
{{- $temporal := $values.temporal -}}
{{- $_ := set $env "TEMPORAL_ADDRESS" $temporal.address -}}
{{- $_ := set $env "TEMPORAL_NAMESPACE" $temporal.namespace -}}
{{- $_ := set $env "TEMPORAL_TASK_QUEUE" $temporal.taskQueue -}}
{{- if $temporal.tls.enabled }}{{ $_ := set $env "TEMPORAL_TLS" "true" }}{{ end -}}
{{- if $temporal.tls.clientCertSecret -}}
{{- $_ := set $env "TEMPORAL_TLS_CLIENT_CERT_PATH" "/run/temporal/tls.crt" -}}
{{- $_ := set $env "TEMPORAL_TLS_CLIENT_KEY_PATH" "/run/temporal/tls.key" -}}
{{- end -}}
{{- if $temporal.tls.caSecret }}{{ $_ := set $env "TEMPORAL_TLS_SERVER_CA_CERT_PATH" "/run/temporal/ca.crt" }}{{ end -}}
{{- if $temporal.tls.serverName }}{{ $_ := set $env "TEMPORAL_TLS_SERVER_NAME" $temporal.tls.serverName }}{{ end -}}
{{- end -}}
{{- if has $component (list "api" "worker") -}}
{{- $_ := set $env "PROVIDER_TIMEOUT" $values.provider.timeout -}}
{{- if $values.merchantWebhookUrl }}{{ $_ := set $env "MERCHANT_WEBHOOK_URL" $values.merchantWebhookUrl }}{{ end -}}
{{- end -}}
{{- if has $component (list "api" "worker" "codec-server" "replay" "migration") -}}
{{- $_ := set $env "PROVIDER_COLLECTION_URL" $values.provider.collectionUrl -}}
{{- $_ := set $env "PROVIDER_PAYOUT_URL" $values.provider.payoutUrl -}}
{{- end -}}
{{- if and $values.temporal.uiUrl (has $component (list "api" "worker" "codec-server")) -}}
{{- $_ := set $env "TEMPORAL_UI_URL" $values.temporal.uiUrl -}}
{{- end -}}
{{- if and (not $values.encryption.enabled) (has $component (list "api" "worker" "replay")) }}{{ $_ := set $env "ENCRYPTION" "off" }}{{ end -}}
{{- if eq $component "api" -}}
{{- $_ := set $env "PORT" "3000" -}}
{{- $_ := set $env "TRUSTED_PROXIES" (toString $values.api.trustedProxies) -}}
{{- with $values.desk.ingress -}}
{{- if and $values.desk.enabled .enabled -}}
{{- $_ := set $env "DESK_URL" (printf "%s://%s" (ternary "https" "http" (ne .tlsSecret "")) .host) -}}
{{- end -}}
{{- end -}}
{{- if $values.metrics.enabled }}{{ $_ := set $env "API_METRICS_ADDRESS" (printf "0.0.0.0:%v" $values.metrics.port) }}{{ end -}}
{{- else if eq $component "worker" -}}
{{- $_ := set $env "WORKER_SHUTDOWN_GRACE" $values.worker.shutdownGrace -}}
{{- if $values.metrics.enabled }}{{ $_ := set $env "WORKER_METRICS_ADDRESS" (printf "0.0.0.0:%v" $values.metrics.port) }}{{ end -}}
{{- if .buildId -}}
{{- $_ := set $env "WORKER_DEPLOYMENT" $values.worker.versioning.deployment -}}
{{- $_ := set $env "WORKER_BUILD_ID" .buildId -}}
{{- end -}}
{{- else if eq $component "codec-server" -}}
{{- $_ := set $env "CODEC_PORT" "8234" -}}
{{- $_ := set $env "TRUSTED_PROXIES" (toString $values.codecServer.trustedProxies) -}}
{{- else if eq $component "desk" -}}
{{- $_ := set $env "DESK_PORT" "3001" -}}
{{- $_ := set $env "DESK_API_URL" (printf "http://%s-api:%v" (include "sanaga.fullname" .root) $values.api.service.port) -}}
{{- $_ := set $env "TRUSTED_PROXIES" (toString $values.desk.trustedProxies) -}}
{{- end -}}
{{- range $key := include "sanaga.secretKeys" (list .root .component) | fromYamlArray -}}
{{- $name := ternary "MERCHANTS_FILE" (printf "%s_FILE" ($key | upper | replace "-" "_")) (eq $key "merchants.json") -}}
{{- $_ := set $env $name (printf "/run/secrets/sanaga/%s" $key) -}}
{{- end -}}
{{- range $name, $value := mergeOverwrite (dict) $values.settings .settings -}}
{{- /* Of the settings of every process, the replay reads Temporal's alone, and the migration none but its log's. */ -}}
{{- if ternary (hasPrefix "TEMPORAL_" $name) (or (ne $component "migration") (eq $name "LOG_LEVEL")) (eq $component "replay") -}}
{{- if hasKey $env $name -}}
{{- fail (printf "settings: %s is set by another value of the chart (see values.yaml)" $name) -}}
{{- end -}}
{{- $_ := set $env $name (toString $value) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $env }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end -}}
{{- end -}}

{{/* What every container is denied. */}}
{{- define "sanaga.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* A pod's volumes, and where its container has them: (list $ "api") */}}
{{- define "sanaga.volumes" -}}
{{- $values := (index . 0).Values -}}
{{- $component := index . 1 -}}
{{- $keys := include "sanaga.secretKeys" . | fromYamlArray -}}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- if $keys }}
- name: secrets
  secret:
    secretName: {{ $values.secretName }}
    # Readable for the group, which is the pod's fsGroup.
    defaultMode: 0440
    items:
      {{- range $keys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- end }}
{{- $tls := $values.temporal.tls }}
{{- if and (has $component (list "api" "worker" "replay")) (or $tls.clientCertSecret $tls.caSecret) }}
- name: temporal-tls
  projected:
    defaultMode: 0440
    sources:
      {{- if $tls.clientCertSecret }}
      - secret:
          name: {{ $tls.clientCertSecret }}
          items:
            - { key: tls.crt, path: tls.crt }
            - { key: tls.key, path: tls.key }
      {{- end }}
      {{- if $tls.caSecret }}
      - secret:
          name: {{ $tls.caSecret }}
          items:
            - { key: ca.crt, path: ca.crt }
      {{- end }}
{{- end }}
{{- end -}}

{{- define "sanaga.volumeMounts" -}}
{{- $values := (index . 0).Values -}}
- { name: tmp, mountPath: /tmp }
{{- if include "sanaga.secretKeys" . | fromYamlArray }}
- { name: secrets, mountPath: /run/secrets/sanaga, readOnly: true }
{{- end }}
{{- if and (has (index . 1) (list "api" "worker" "replay")) (or $values.temporal.tls.clientCertSecret $values.temporal.tls.caSecret) }}
- { name: temporal-tls, mountPath: /run/temporal, readOnly: true }
{{- end }}
{{- end -}}

{{/* What the pods of a component have in common: (list $ "api" .Values.api) */}}
{{- define "sanaga.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
# Before the first installation, there is none of the chart's own.
serviceAccountName: {{ ternary "default" (include "sanaga.serviceAccount" $root) (and (eq $component "migration") $root.Values.serviceAccount.create) }}
# Nothing here talks to Kubernetes.
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "sanaga.selector" (list $root $component) | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
volumes: {{- include "sanaga.volumes" (list $root $component) | nindent 2 }}
{{- end -}}

{{/* (list $ "api" annotations hasMetrics moreLabels) */}}
{{- define "sanaga.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $annotations := index . 2 -}}
labels: {{- include "sanaga.labels" (list $root (index . 1)) | nindent 2 }}
  {{- with (index . 4) }}{{ toYaml . | nindent 2 }}{{ end }}
{{- if and (index . 3) $root.Values.metrics.enabled (not $root.Values.metrics.podMonitor) }}
{{- $annotations = merge (dict "prometheus.io/scrape" "true" "prometheus.io/port" (toString $root.Values.metrics.port)) $annotations }}
{{- end }}
{{- with $annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
