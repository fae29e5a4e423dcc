{{- /* The beginning of all names. The longest is NAME-relay-0123456789-01234, and a name of a host has 63 characters.
Releases may have dots and begin with a digit, and services may not. A name that is cut has a digest, so that no other is cut to it. */ -}}
{{- define "oasis.name" -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- $own := .Values.fullnameOverride | default (contains "oasis" $release | ternary $release (printf "%s-oasis" $release)) -}}
{{- if regexMatch "^[0-9]" $own }}{{ $own = printf "r%s" $own }}{{ end -}}
{{- if gt (len $own) 40 }}{{ $own = printf "%s-%s" ($own | trunc 31 | trimSuffix "-") (sha256sum .Release.Name | trunc 8) }}{{ end -}}
{{- $own -}}
{{- end -}}

{{- define "oasis.selector" -}}
app.kubernetes.io/name: oasis
app.kubernetes.io/instance: {{ .root.Release.Name | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "oasis.labels" -}}
app.kubernetes.io/name: oasis
app.kubernetes.io/instance: {{ .root.Release.Name | trunc 63 | trimSuffix "-" | quote }}
{{- with .part }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | regexFind "^[A-Za-z0-9_.-]+" | trunc 63 | trimAll "-_." | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | quote }}
{{- end -}}

{{- define "oasis.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}

{{- define "oasis.tlsSecret" -}}
{{ .Values.tls.existingSecret | default (printf "%s-tls" (include "oasis.name" .)) }}
{{- end -}}

{{- define "oasis.tokensSecret" -}}
{{ .Values.tokens.existingSecret | default (printf "%s-tokens" (include "oasis.name" .)) }}
{{- end -}}

{{- define "oasis.scheme" -}}
{{ .Values.tls.enabled | ternary "https" "http" }}
{{- end -}}

{{- /* Parts that run here, as a JSON list. */ -}}
{{- define "oasis.parts" -}}
{{- $parts := list "dac" -}}
{{- if .Values.tem.enabled }}{{ $parts = append $parts "tem" }}{{ end -}}
{{- if .Values.relay.enabled }}{{ $parts = append $parts "relay" }}{{ end -}}
{{- toJson $parts -}}
{{- end -}}

{{- /* Names by which pods and clients reach a part: those of its service, and of each pod of a StatefulSet. A JSON list. */ -}}
{{- define "oasis.hosts" -}}
{{- $root := .root -}}
{{- $service := printf "%s-%s" (include "oasis.name" .root) .part -}}
{{- $short := list $service -}}
{{- if ne .part "relay" -}}
{{- $replicas := eq .part "tem" | ternary (int .root.Values.tem.replicas) 1 -}}
{{- range $i := until $replicas }}{{ $short = append $short (printf "%s-%d.%s-pods" $service $i $service) }}{{ end -}}
{{- end -}}
{{- $all := list -}}
{{- range $short -}}
{{- $in := printf "%s.%s" . $root.Release.Namespace -}}
{{- $all = concat $all (list . $in (printf "%s.svc" $in) (printf "%s.svc.%s" $in $root.Values.clusterDomain)) -}}
{{- end -}}
{{- if and .root.Values.ingress.enabled (eq .part .root.Values.ingress.backend) }}{{ $all = append $all .root.Values.ingress.host }}{{ end -}}
{{- toJson (concat $all .root.Values.tls.names | uniq) -}}
{{- end -}}

{{- define "oasis.isAddress" -}}
{{ regexMatch "^([0-9.]+|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$" . | ternary "yes" "no" }}
{{- end -}}

{{- /* Addresses of the TEMs, each by its own name: they do not talk to each other. A JSON list. */ -}}
{{- define "oasis.tems" -}}
{{- $urls := list -}}
{{- $service := printf "%s-tem" (include "oasis.name" .) -}}
{{- if .Values.tem.enabled -}}
{{- range $i := until (int .Values.tem.replicas) -}}
{{- $urls = append $urls (printf "%s://%s-%d.%s-pods.%s.svc:7070" (include "oasis.scheme" $) $service $i $service $.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- toJson $urls -}}
{{- end -}}

{{- /* Writes TOML. The function toToml of Helm writes 30.0 for 30. Values are those of JSON, but for tables. */ -}}
{{- define "oasis.tomlKey" -}}
{{ regexMatch "^[A-Za-z0-9_-]+$" . | ternary . (toRawJson .) }}
{{- end -}}

{{- define "oasis.tomlValue" -}}
{{- if kindIs "map" . -}}
{ {{- range $i, $key := keys . | sortAlpha }}{{ if $i }}, {{ end }}{{ include "oasis.tomlKey" $key }} = {{ include "oasis.tomlValue" (get $ $key) }}{{ end -}} }
{{- else if kindIs "slice" . -}}
[{{- range $i, $value := . }}{{ if $i }}, {{ end }}{{ include "oasis.tomlValue" $value }}{{ end -}}]
{{- else if kindIs "invalid" . -}}
{{- fail "settings: TOML has no null" -}}
{{- else -}}
{{- toRawJson . -}}
{{- end -}}
{{- end -}}

{{- define "oasis.toml" -}}
{{- range $key := keys . | sortAlpha }}{{ if not (kindIs "map" (get $ $key)) }}{{ include "oasis.tomlKey" $key }} = {{ include "oasis.tomlValue" (get $ $key) }}
{{ end }}{{ end -}}
{{- range $key := keys . | sortAlpha }}{{ if kindIs "map" (get $ $key) }}
[{{ include "oasis.tomlKey" $key }}]
{{ range $inner := keys (get $ $key) | sortAlpha }}{{ include "oasis.tomlKey" $inner }} = {{ include "oasis.tomlValue" (get (get $ $key) $inner) }}
{{ end }}{{ end }}{{ end -}}
{{- end -}}

{{- /* The settings of a part: those that DAC, TEM and relay share, its own, and those of the values, which win. */ -}}
{{- define "oasis.settings" -}}
{{- $values := .root.Values -}}
{{- $state := "/var/lib/oasis" -}}
{{- $ca := "" -}}
{{- $hosts := list -}}
{{- range include "oasis.hosts" . | fromJsonArray }}{{ if not (eq (include "oasis.isAddress" .) "yes") }}{{ $hosts = append $hosts . }}{{ end }}{{ end -}}
{{- $doors := dict "listen" "0.0.0.0:7070" "allowed_hosts" $hosts -}}
{{- with $values.trustedProxies }}{{ $_ := set $doors "trusted_proxies" . }}{{ end -}}
{{- $access := dict "directory" (printf "%s/access" $state) "insecure" $values.insecure -}}
{{- /* Half of what the pod may have by default, or less. */ -}}
{{- $memory := get (dict "dac" 1073741824 "tem" 268435456 "relay" 536870912) .part -}}
{{- $all := dict "doors" $doors "access" $access "memory_bytes" $memory -}}
{{- if $values.tls.enabled -}}
{{- $ca = "/etc/oasis/tls/ca.crt" -}}
{{- $_ := set $all "tls" (dict "certificate" "/etc/oasis/tls/tls.crt" "key" "/etc/oasis/tls/tls.key") -}}
{{- else -}}
{{- $_ := set $all "insecure" true -}}
{{- end -}}
{{- $dac := printf "%s-dac.%s.svc" (include "oasis.name" .root) .root.Release.Namespace -}}
{{- $page := printf "%s://%s:7070" (include "oasis.scheme" .root) $dac -}}
{{- $tems := include "oasis.tems" .root | fromJsonArray -}}
{{- if eq .part "dac" -}}
{{- $_ := set $doors "layouts_dir" (printf "%s/layouts" $state) -}}
{{- $_ := set $all "channel" (dict "listen" "0.0.0.0:7071" "settings_dir" (printf "%s/settings" $state)) -}}
{{- $rule := dict "instances" "*" "days" $values.dac.archive.days "bytes" $values.dac.archive.bytes -}}
{{- $_ := set $all "archive" (dict "directory" (printf "%s/archive" $state) "retention" (list $rule)) -}}
{{- if $values.tls.enabled }}{{ $_ := set $all.tls "ca_directory" (printf "%s/ca" $state) }}{{ end -}}
{{- if $tems }}{{ $_ := set $all "tem" (dict "url" $tems "ca" $ca "name" $values.dac.name "host" $dac) }}{{ end -}}
{{- else if not $values.insecure -}}
{{- $_ := set $access "follow" (list $page) -}}
{{- $_ := set $access "follow_ca" $ca -}}
{{- $_ := set $access "follow_token_file" "/run/oasis/token" -}}
{{- end -}}
{{- if eq .part "relay" -}}
{{- $_ := set $all "relay" (dict "upstreams" (concat (list $page) $values.relay.upstreams) "ca" $ca) -}}
{{- if $tems }}{{ $_ := set $all "tem" (dict "url" $tems "ca" $ca) }}{{ end -}}
{{- end -}}
{{- include "oasis.toml" (mergeOverwrite $all (deepCopy (index $values .part "settings"))) -}}
{{- end -}}

{{- define "oasis.nodeSettings" -}}
{{- $node := dict "probes" .Values.node.probes -}}
{{- with .Values.node.spoolBytes }}{{ $_ := set $node "spool_directory_bytes" . }}{{ end -}}
{{- include "oasis.toml" (mergeOverwrite (dict "node" $node) (deepCopy .Values.node.settings)) -}}
{{- end -}}

{{- /* Files of a part: its settings, and what its init container runs. */ -}}
{{- define "oasis.files" -}}
oasis.toml: |
  {{- if eq .part "node" }}
  {{- include "oasis.nodeSettings" .root | nindent 2 }}
  {{- else }}
  {{- include "oasis.settings" . | nindent 2 }}
  {{- end }}
prepare: |
  {{- .root.Files.Get (printf "files/prepare-%s" (has .part (list "dac" "node") | ternary .part "follower")) | nindent 2 }}
{{- end -}}

{{- /* The pod's own part of its security. */ -}}
{{- define "oasis.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "oasis.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* What all pods have at their top. Service links would set variables such as OASIS_PORT. */ -}}
{{- define "oasis.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
serviceAccountName: {{ include "oasis.name" .root }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
securityContext:
  {{- include "oasis.podSecurity" .root | nindent 2 }}
{{- with index .root.Values .part "pod" }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Changed settings make other pods. A changed certificate is taken by those that run. */ -}}
{{- define "oasis.podAnnotations" -}}
checksum/settings: {{ include "oasis.files" . | sha256sum }}
{{- with index .root.Values .part "podAnnotations" }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "oasis.token" -}}
- name: OASIS_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ include "oasis.tokensSecret" .root | quote }}
      key: {{ .part }}
{{- end -}}

{{- /* Liveness: only what a restart would help. */ -}}
{{- define "oasis.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: page, scheme: {{ include "oasis.scheme" .root | upper }}}
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: {{ .startup }}
livenessProbe:
  httpGet: {path: /healthz, port: page, scheme: {{ include "oasis.scheme" .root | upper }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: {{ .ready }}, port: page, scheme: {{ include "oasis.scheme" .root | upper }}}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{- /* Files of DAC, TEM and relay, and where they are mounted. */ -}}
{{- define "oasis.mounts" -}}
- name: settings
  mountPath: /etc/oasis/settings
  readOnly: true
- name: state
  mountPath: /var/lib/oasis
- name: run
  mountPath: /run/oasis
- name: tmp
  mountPath: /tmp
{{- if .root.Values.tls.enabled }}
- name: tls
  mountPath: /etc/oasis/tls
  readOnly: true
{{- end }}
{{- end -}}

{{- define "oasis.volumes" -}}
- name: settings
  configMap:
    name: {{ include "oasis.name" .root }}-{{ .part }}
- name: run
  emptyDir: {medium: Memory, sizeLimit: 1Mi}
- name: tmp
  emptyDir: {sizeLimit: 1Gi}
{{- if .root.Values.tls.enabled }}
- name: tls
  secret:
    secretName: {{ include "oasis.tlsSecret" .root | quote }}
    # The group is that of the pod (fsGroup).
    defaultMode: 0440
{{- end }}
{{- end -}}
