{{- /* Mistakes that the schema cannot see. */ -}}
{{- define "oasis.check" -}}
{{- if and .Values.ingress.enabled (eq .Values.ingress.backend "relay") (not .Values.relay.enabled) }}{{ fail "ingress.backend is relay, and relay.enabled is false" }}{{ end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.enabled needs ingress.host" }}{{ end -}}
{{- if and .Values.tem.enabled .Values.insecure }}{{ fail "insecure has no accounts, and a TEM needs the tokens of its DACs: tem.enabled or insecure" }}{{ end -}}
{{- if and .Values.relay.enabled (le (int .Values.relay.replicas) (int .Values.relay.minAvailable)) (gt (int .Values.relay.minAvailable) 0) }}
{{- if ne (int .Values.relay.replicas) 1 }}{{ fail "relay.minAvailable must be less than relay.replicas: no host could be emptied" }}{{ end }}
{{- end -}}
{{- range $key, $_ := .Values.dac.settings }}{{ if not (regexMatch "^[a-z_]+$" $key) }}{{ fail (printf "dac.settings: %q is no key of oasis.toml" $key) }}{{ end }}{{ end -}}
{{- end -}}

{{- /* The volume of a StatefulSet. */ -}}
{{- define "oasis.claim" -}}
{{- if .persistence.enabled -}}
persistentVolumeClaimRetentionPolicy:
  whenDeleted: {{ .persistence.whenDeleted }}
  whenScaled: Retain
volumeClaimTemplates:
  - apiVersion: v1
    kind: PersistentVolumeClaim
    metadata:
      name: state
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .persistence.storageClass }}
      storageClassName: {{ . | quote }}
      {{- end }}
      resources:
        requests:
          storage: {{ .persistence.size | quote }}
{{- end -}}
{{- end -}}

{{- /* A token in a file that only the process can read: TEMs and relays copy the accounts of the DAC with it. */ -}}
{{- define "oasis.follower" -}}
- name: prepare
  image: {{ include "oasis.image" .root | quote }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  command: [/bin/sh, /etc/oasis/settings/prepare]
  env:
    {{- include "oasis.token" . | nindent 4 }}
  securityContext:
    {{- include "oasis.containerSecurity" .root | nindent 4 }}
  resources:
    {{- toYaml (index .root.Values .part "resources") | nindent 4 }}
  volumeMounts:
    {{- include "oasis.mounts" . | nindent 4 }}
{{- end -}}

{{- define "oasis.nodeName" -}}
- name: HOST
  valueFrom:
    fieldRef: {fieldPath: spec.nodeName}
- name: OASIS_NODE_NAME
  value: {{ printf "%s$(HOST)" .Values.node.namePrefix | quote }}
{{- end -}}

{{- define "oasis.nodeMounts" -}}
- name: settings
  mountPath: /etc/oasis/settings
  readOnly: true
- name: state
  mountPath: /var/lib/oasis
- name: tmp
  mountPath: /tmp
{{- if .Values.tls.enabled }}
- name: tls
  mountPath: /etc/oasis/tls
  readOnly: true
{{- end }}
{{- end -}}
