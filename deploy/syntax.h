#pragma once

#include <string_view>

// What Kubernetes accepts as names and values (k8s.io/apimachinery: pkg/util/validation).
namespace mindgate::deploy {

// Limit of names that become host names, Service names or values of labels.
inline constexpr size_t kMaxLabel = 63;

// RFC 1035 label, as Services and InferenceServices are named: like a DNS-1123 label, with a letter
// in front.
bool IsDns1035Label(std::string_view text);
// Labels separated by dots, at most 253 characters.
bool IsDnsSubdomain(std::string_view text);
// Key of a label or annotation, or the name of an extended resource: "huawei.com/Ascend910".
bool IsQualifiedName(std::string_view text);
bool IsLabelValue(std::string_view text);
// Name of a variable of a container.
bool IsVariableName(std::string_view text);
// "name:tag", "host:5000/name:tag" or "name@sha256:..."; a name alone is none, since the image that
// it means changes from pull to pull.
bool IsPinnedImage(std::string_view text);

// An amount of memory or processors that is not negative: "500m", "1.5", "64Mi".
bool IsAmount(std::string_view text);

}  // namespace mindgate::deploy
