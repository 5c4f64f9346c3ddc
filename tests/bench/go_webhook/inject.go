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

// inject writes what is missing for scheduling and rescheduling on NPUs into the templates that request them.
func inject(object *unstructured.Unstructured) error {
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
		if err := complete(template, pods); err != nil {
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

func complete(template tree, pods int64) error {
	metadata, err := child(template, "metadata")
	if err != nil {
		return err
	}
	labels, err := child(metadata, "labels")
	if err != nil {
		return err
	}
	setMissing(labels, "fault-scheduling", "force")
	setMissing(labels, "pod-rescheduling", "on")
	setMissing(labels, "fault-retry-times", "10")
	annotations, err := child(metadata, "annotations")
	if err != nil {
		return err
	}
	setMissing(annotations, "huawei.com/recover_policy_path", "pod")
	setMissing(annotations, "huawei.com/schedule_minAvailable", strconv.FormatInt(pods, 10))
	spec, err := child(template, "spec")
	if err != nil {
		return err
	}
	setMissing(spec, "schedulerName", "volcano")
	setMissing(spec, "restartPolicy", "Never")
	for _, container := range containersOf(template) {
		if resource := npuOf(container); resource != "" {
			addVisibleDevices(container.(tree), resource)
		}
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
