{{- define "sanaga.service" -}}
{{- $name := printf "%s-%s" (include "sanaga.fullname" .root) .component -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels: {{- include "sanaga.labels" (list .root .component) | nindent 4 }}
  {{- with .service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .service.type }}
  selector: {{- include "sanaga.selector" (list .root .component) | nindent 4 }}
  ports:
    - { name: http, port: {{ .service.port }}, targetPort: http }
{{- end -}}

{{/* (list $ "api" budget) */}}
{{- define "sanaga.podDisruptionBudget" -}}
{{- $root := index . 0 -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "sanaga.fullname" $root }}-{{ index . 1 }}
  labels: {{- include "sanaga.labels" (list $root (index . 1)) | nindent 4 }}
spec: {{- toYaml (index . 2) | nindent 2 }}
  # A pod that isn't ready protects nothing, and must not hold up the draining of its node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "sanaga.selector" (list $root (index . 1)) | nindent 6 }}
{{- end -}}

{{- define "sanaga.ingress" -}}
{{- $service := printf "%s-%s" (include "sanaga.fullname" .root) .component -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $service }}
  labels: {{- include "sanaga.labels" (list .root .component) | nindent 4 }}
  {{- with .ingress.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- with .ingress.tlsSecret }}
  tls:
    - { hosts: [{{ $.ingress.host | quote }}], secretName: {{ . }} }
  {{- end }}
  rules:
    - host: {{ .ingress.host | quote }}
      http:
        paths:
          {{- range .paths }}
          - path: {{ . }}
            pathType: Prefix
            backend: { service: { name: {{ $service }}, port: { name: http } } }
          {{- end }}
{{- end -}}
