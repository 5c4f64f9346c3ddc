package main

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	resourcePrefix = "huawei.com/"
	visibleDevices = "ASCEND_VISIBLE_DEVICES"
)

type tree = map[string]any

// injectStormService writes what is missing for scheduling and rescheduling on NPUs into the templates that request them.
func injectStormService(object *unstructured.Unstructured) error {
	roles, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "spec", "roles")
	if err != nil || !found {
		return err
	}
	list, ok := roles.([]any)
	if !ok {
		return fmt.Errorf("spec.template.spec.roles is not a list")
	}
	templates, pods := npuTemplates(list)
	for _, template := range templates {
		if err := complete(template); err != nil {
			return err
		}
		if err := completeRole(template, pods); err != nil {
			return err
		}
	}
	return nil
}

// injectLeaderWorkerSet does the same for the leader and the workers.
func injectLeaderWorkerSet(object *unstructured.Unstructured) error {
	field, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "leaderWorkerTemplate")
	if err != nil || !found {
		return err
	}
	group, ok := field.(tree)
	if !ok {
		return fmt.Errorf("spec.leaderWorkerTemplate is not an object")
	}
	for _, name := range []string{"leaderTemplate", "workerTemplate"} {
		template, _ := group[name].(tree)
		if !requestsNpus(template) {
			continue
		}
		if err := complete(template); err != nil {
			return err
		}
	}
	return nil
}

// npuTemplates returns the pod templates of the roles with NPUs, and how many pods they make: such roles share a PodGroup.
func npuTemplates(roles []any) (templates []tree, pods int64) {
	for _, each := range roles {
		role, _ := each.(tree)
		template, _ := role["template"].(tree)
		if !requestsNpus(template) {
			continue
		}
		replicas, _ := role["replicas"].(int64)
		pods += replicas
		templates = append(templates, template)
	}
	return templates, pods
}

func containersOf(template tree) []any {
	spec, _ := template["spec"].(tree)
	containers, _ := spec["containers"].([]any)
	return containers
}

func requestsNpus(template tree) bool {
	for _, container := range containersOf(template) {
		if npuOf(container) != "" {
			return true
		}
	}
	return false
}

// npuOf returns the NPU resource that a container requests, or "".
func npuOf(container any) string {
	object, _ := container.(tree)
	resources, _ := object["resources"].(tree)
	for _, side := range []string{"requests", "limits"} {
		quantities, _ := resources[side].(tree)
		for name := range quantities {
			if strings.HasPrefix(name, resourcePrefix) {
				return name
			}
		}
	}
	return ""
}

// complete writes what the pods of all kinds need.
func complete(template tree) error {
	if err := setOnPods(template, "labels", [][2]string{{"fault-scheduling", "force"}, {"pod-rescheduling", "on"}}); err != nil {
		return err
	}
	if err := setOnPods(template, "annotations", [][2]string{{"huawei.com/recover_policy_path", "pod"}}); err != nil {
		return err
	}
	spec, err := child(template, "spec")
	if err != nil {
		return err
	}
	setMissing(spec, "schedulerName", "volcano")
	for _, container := range containersOf(template) {
		if resource := npuOf(container); resource != "" {
			addVisibleDevices(container.(tree), resource)
		}
	}
	return nil
}

// completeRole writes what roles need beside it, which share a PodGroup of so many pods.
func completeRole(template tree, pods int64) error {
	if err := setOnPods(template, "labels", [][2]string{{"fault-retry-times", "10"}}); err != nil {
		return err
	}
	size := [][2]string{{"huawei.com/schedule_minAvailable", strconv.FormatInt(pods, 10)}}
	if err := setOnPods(template, "annotations", size); err != nil {
		return err
	}
	spec, err := child(template, "spec")
	if err != nil {
		return err
	}
	setMissing(spec, "restartPolicy", "Never")
	return nil
}

// setOnPods sets the missing ones of these in the template's labels or annotations.
func setOnPods(template tree, member string, pairs [][2]string) error {
	metadata, err := child(template, "metadata")
	if err != nil {
		return err
	}
	object, err := child(metadata, member)
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		setMissing(object, pair[0], pair[1])
	}
	return nil
}

// child returns the object below key, made when it is missing.
func child(parent tree, key string) (tree, error) {
	value, found := parent[key]
	if !found || value == nil {
		made := tree{}
		parent[key] = made
		return made, nil
	}
	object, ok := value.(tree)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", key)
	}
	return object, nil
}

func setMissing(object tree, key, value string) {
	if _, found := object[key]; !found {
		object[key] = value
	}
}

func addVisibleDevices(container tree, resource string) {
	env, _ := container["env"].([]any)
	for _, each := range env {
		if variable, _ := each.(tree); variable["name"] == visibleDevices {
			return
		}
	}
	container["env"] = append(env, tree{
		"name":      visibleDevices,
		"valueFrom": tree{"fieldRef": tree{"fieldPath": "metadata.annotations['" + resource + "']"}},
	})
}
