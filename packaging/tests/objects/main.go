// Program objects checks objects of Kubernetes that a chart renders, without a cluster: it reads YAML from standard input,
// decodes each object strictly into the type that the API server has, and checks what one object says of another.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

// A name of a controller becomes part of labels of its pods (NAME-0123456789) and of their names.
const maxControllerName = 52

// Workload is what all controllers of pods have in common.
type workload struct {
	name     string
	selector *metav1.LabelSelector
	template corev1.PodTemplateSpec
	claims   []string
}

type checker struct {
	objects   map[string]runtime.Object
	workloads []workload
	external  []string
	problems  []string
}

func (c *checker) wrong(format string, arguments ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, arguments...))
}

func main() {
	external := flag.String("external", "", "secrets that the chart does not make, with commas")
	asJSON := flag.Bool("json", false, "print the objects as lines of JSON")
	flag.Parse()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	c := &checker{objects: map[string]runtime.Object{}, external: strings.Split(*external, ",")}
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.wrong("%v", err)
			break
		}
		text, err := strict.YAMLToJSONStrict(document)
		if err != nil {
			c.wrong("%v in:\n%.400s", err, document)
			continue
		}
		if string(text) == "null" {
			continue
		}
		if *asJSON {
			fmt.Println(string(text))
		}
		c.read(decoder, text)
	}
	for _, workload := range c.workloads {
		c.check(workload)
	}
	c.checkOthers()
	for _, problem := range c.problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(c.problems) > 0 || len(c.objects) == 0 {
		os.Exit(1)
	}
	if !*asJSON {
		fmt.Printf("%d objects\n", len(c.objects))
	}
}

// Read decodes an object, and remembers it.
func (c *checker) read(decoder runtime.Decoder, text []byte) {
	var meta metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &meta); err != nil {
		c.wrong("%v in %.400s", err, text)
		return
	}
	name := meta.Kind + "/" + meta.Name
	for _, problem := range validation.IsDNS1123Subdomain(meta.Name) {
		c.wrong("%s: %s", name, problem)
	}
	c.checkLabels(name, meta.Labels)
	c.checkAnnotations(name, meta.Annotations)
	if _, has := c.objects[name]; has {
		c.wrong("%s is there twice", name)
	}
	var object runtime.Object
	var err error
	// A type of a custom resource definition: only its head is checked.
	if meta.Kind == "ServiceMonitor" {
		object = &meta
	} else if object, _, err = decoder.Decode(text, nil, nil); err != nil {
		c.wrong("%s: %v", name, err)
		return
	}
	c.objects[name] = object
	switch o := object.(type) {
	case *appsv1.StatefulSet:
		claims := []string{}
		for _, claim := range o.Spec.VolumeClaimTemplates {
			claims = append(claims, claim.Name)
		}
		if _, has := c.objects["Service/"+o.Spec.ServiceName]; !has {
			c.wrong("%s: no service %s (services come first)", name, o.Spec.ServiceName)
		}
		c.workloads = append(c.workloads, workload{name, o.Spec.Selector, o.Spec.Template, claims})
	case *appsv1.Deployment:
		c.workloads = append(c.workloads, workload{name, o.Spec.Selector, o.Spec.Template, nil})
	case *appsv1.DaemonSet:
		c.workloads = append(c.workloads, workload{name, o.Spec.Selector, o.Spec.Template, nil})
	case *corev1.Service:
		for _, problem := range validation.IsDNS1035Label(meta.Name) {
			c.wrong("%s: %s", name, problem)
		}
	}
}

func (c *checker) checkLabels(name string, all map[string]string) {
	for key, value := range all {
		for _, problem := range append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...) {
			c.wrong("%s: label %s=%q: %s", name, key, value, problem)
		}
	}
}

func (c *checker) checkAnnotations(name string, all map[string]string) {
	for key := range all {
		for _, problem := range validation.IsQualifiedName(strings.ToLower(key)) {
			c.wrong("%s: annotation %q: %s", name, key, problem)
		}
	}
}

// Check finds what a pod names and does not have, and what the restricted level of pod security forbids.
func (c *checker) check(w workload) {
	if short := w.name[strings.Index(w.name, "/")+1:]; len(short) > maxControllerName {
		c.wrong("%s: its name has more than %d characters", w.name, maxControllerName)
	}
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	if err != nil || selector.Empty() || !selector.Matches(labels.Set(w.template.Labels)) {
		c.wrong("%s does not select its own pods (%v)", w.name, err)
	}
	c.checkLabels(w.name+" pod", w.template.Labels)
	c.checkAnnotations(w.name+" pod", w.template.Annotations)
	pod := w.template.Spec
	volumes := map[string]bool{}
	for _, claim := range w.claims {
		volumes[claim] = true
	}
	for _, volume := range pod.Volumes {
		if volumes[volume.Name] {
			c.wrong("%s: volume %s is there twice", w.name, volume.Name)
		}
		volumes[volume.Name] = true
		if volume.ConfigMap != nil {
			c.mustHave(w.name, "ConfigMap", volume.ConfigMap.Name)
		}
		if volume.Secret != nil {
			c.mustHave(w.name, "Secret", volume.Secret.SecretName)
		}
	}
	if pod.ServiceAccountName != "" {
		c.mustHave(w.name, "ServiceAccount", pod.ServiceAccountName)
	}
	security := pod.SecurityContext
	if security == nil || security.RunAsNonRoot == nil || !*security.RunAsNonRoot || security.SeccompProfile == nil ||
		security.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		c.wrong("%s: its pods may be root, or have no profile of seccomp", w.name)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		c.wrong("%s: its pods get a token of the cluster", w.name)
	}
	if pod.EnableServiceLinks == nil || *pod.EnableServiceLinks {
		c.wrong("%s: variables of services would be settings (OASIS_…)", w.name)
	}
	used := map[string]bool{}
	for _, container := range append(slices.Clone(pod.InitContainers), pod.Containers...) {
		c.checkContainer(w.name+" "+container.Name, container, volumes, used)
	}
	for volume := range volumes {
		if !used[volume] {
			c.wrong("%s: nothing mounts the volume %s", w.name, volume)
		}
	}
}

func (c *checker) checkContainer(name string, container corev1.Container, volumes, used map[string]bool) {
	security := container.SecurityContext
	if security == nil || security.AllowPrivilegeEscalation == nil || *security.AllowPrivilegeEscalation ||
		security.ReadOnlyRootFilesystem == nil || !*security.ReadOnlyRootFilesystem ||
		security.Capabilities == nil || !slices.Contains(security.Capabilities.Drop, "ALL") || len(security.Capabilities.Add) > 0 {
		c.wrong("%s has rights that it does not need", name)
	}
	if container.Image == "" || strings.ContainsAny(container.Image, " \n\t\"'") || strings.HasSuffix(container.Image, ":") {
		c.wrong("%s: image %q", name, container.Image)
	}
	if container.Resources.Requests.Memory().IsZero() || container.Resources.Limits.Memory().IsZero() {
		c.wrong("%s asks for no memory, or has no limit", name)
	}
	known := map[string]bool{}
	for _, variable := range container.Env {
		if known[variable.Name] {
			c.wrong("%s: variable %s is there twice", name, variable.Name)
		}
		for rest := variable.Value; strings.Contains(rest, "$("); {
			_, after, _ := strings.Cut(rest, "$(")
			inside, after, _ := strings.Cut(after, ")")
			if !known[inside] {
				c.wrong("%s: %s needs %s before it", name, variable.Name, inside)
			}
			rest = after
		}
		known[variable.Name] = true
		if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
			c.mustHave(name, "Secret", from.SecretKeyRef.Name)
			if secret, is := c.objects["Secret/"+from.SecretKeyRef.Name].(*corev1.Secret); is && len(secret.Data[from.SecretKeyRef.Key]) == 0 {
				c.wrong("%s: the secret %s has no %s", name, from.SecretKeyRef.Name, from.SecretKeyRef.Key)
			}
		}
	}
	paths := map[string]bool{}
	for _, mount := range container.VolumeMounts {
		if !volumes[mount.Name] || paths[mount.MountPath] {
			c.wrong("%s mounts %s at %s, which is not there or there twice", name, mount.Name, mount.MountPath)
		}
		used[mount.Name], paths[mount.MountPath] = true, true
	}
	ports := map[string]bool{}
	for _, port := range container.Ports {
		ports[port.Name] = true
		for _, problem := range validation.IsValidPortName(port.Name) {
			c.wrong("%s: port %s: %s", name, port.Name, problem)
		}
	}
	for _, probe := range []*corev1.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
		if probe != nil && (probe.HTTPGet == nil || !ports[probe.HTTPGet.Port.StrVal]) {
			c.wrong("%s: a probe asks a port that it does not have", name)
		}
	}
}

// MustHave checks that the chart makes what it names.
func (c *checker) mustHave(who, kind, name string) {
	if _, has := c.objects[kind+"/"+name]; !has && !(kind == "Secret" && slices.Contains(c.external, name)) {
		c.wrong("%s needs %s %q, which nothing makes", who, kind, name)
	}
}

// CheckOthers finds services, policies and ways in that lead nowhere.
func (c *checker) checkOthers() {
	for name, object := range c.objects {
		switch o := object.(type) {
		case *corev1.Service:
			for _, port := range o.Spec.Ports {
				if !c.hasPort(o.Spec.Selector, port.TargetPort.StrVal) {
					c.wrong("%s: no pod has the port %s", name, port.TargetPort.StrVal)
				}
			}
		case *policyv1.PodDisruptionBudget:
			c.mustSelect(name, o.Spec.Selector)
		case *networkingv1.NetworkPolicy:
			// A policy of the node is there without one as well.
			if !strings.HasSuffix(name, "-node") {
				c.mustSelect(name, &o.Spec.PodSelector)
			}
		case *networkingv1.Ingress:
			for _, rule := range o.Spec.Rules {
				for _, problem := range validation.IsDNS1123Subdomain(rule.Host) {
					c.wrong("%s: host %q: %s", name, rule.Host, problem)
				}
				for _, path := range rule.HTTP.Paths {
					c.mustHave(name, "Service", path.Backend.Service.Name)
				}
			}
		}
	}
}

func (c *checker) hasPort(selector map[string]string, port string) bool {
	for _, w := range c.workloads {
		if !labels.SelectorFromSet(selector).Matches(labels.Set(w.template.Labels)) {
			continue
		}
		for _, container := range w.template.Spec.Containers {
			if slices.ContainsFunc(container.Ports, func(has corev1.ContainerPort) bool { return has.Name == port }) {
				return true
			}
		}
	}
	return false
}

func (c *checker) mustSelect(name string, by *metav1.LabelSelector) {
	selector, err := metav1.LabelSelectorAsSelector(by)
	matches := func(w workload) bool { return selector.Matches(labels.Set(w.template.Labels)) }
	if err != nil || !slices.ContainsFunc(c.workloads, matches) {
		c.wrong("%s selects no pods (%v)", name, err)
	}
}
