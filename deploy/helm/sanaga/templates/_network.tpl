{{/* Requests at a port; from anywhere when there are no peers. */}}
{{- define "sanaga.from" -}}
- ports: [{ protocol: TCP, port: {{ .port }} }]
  {{- with .peers }}
  from: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "sanaga.toNames" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
  {{- with .Values.networkPolicy.dnsTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Public addresses, at these ports. Private ones are refused: nobody's webhook address leads to the cluster or to a cloud's metadata. */}}
{{- define "sanaga.toPublic" -}}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
    - ipBlock:
        cidr: ::/0
        except: ['::1/128', 'fc00::/7', 'fe80::/10']
  ports:
    {{- range . }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- end -}}

{{- define "sanaga.toTemporal" -}}
{{ include "sanaga.toNames" . }}
- ports: [{ protocol: TCP, port: {{ .Values.networkPolicy.temporalPort }} }]
  {{- with .Values.networkPolicy.temporalTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "sanaga.toDatabase" -}}
- ports: [{ protocol: TCP, port: {{ .Values.networkPolicy.databasePort }} }]
  {{- with .Values.networkPolicy.databaseTo }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "sanaga.toTemporalAndProvider" -}}
{{- $policy := .Values.networkPolicy -}}
{{ include "sanaga.toTemporal" . }}
{{- if $policy.providerTo }}
- ports:
    {{- range $policy.providerPorts }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  to: {{- toYaml $policy.providerTo | nindent 4 }}
{{- else }}
{{ include "sanaga.toPublic" $policy.providerPorts }}
{{- end }}
{{ include "sanaga.toDatabase" . }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
