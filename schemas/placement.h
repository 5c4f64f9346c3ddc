#pragma once

#include <optional>
#include <string_view>

#include "schemas/config.h"
#include "schemas/request.h"
#include "schemas/workload.h"

// Who places pods: the scheduler that they name once mindgate has written what it writes.
namespace mindgate::schemas {

// Why its owner declines injection, as a clause for people: by the label of the object, by its
// namespace or in the configuration. Empty when it does not, or `opted_in` overrides the namespace.
std::string_view WhyInjectionIsDeclined(const WorkloadView& view, const AdmissionRequest& request,
                                        const Config& config, bool opted_in);

// Nobody completes this object: its label, its namespace or the configuration declines injection,
// or switches off the mutator of that name. The label of the object comes first.
bool IsInjectionOff(const WorkloadView& view, const AdmissionRequest& request, const Config& config,
                    std::string_view mutator);

// Volcano's name as it should be, when that was meant by a name that nearly is; nothing for names
// with something behind it, such as "volcano-2", which may be another instance.
std::optional<std::string_view> MeantScheduler(std::string_view scheduler, const Config& config);

// Whether the pods go to the default scheduler, and injection does not change that. An AscendJob's
// own controller names Volcano for its pods, and a component without a pod spec of its own leaves
// the name to its runtime.
bool IsLeftToDefault(const WorkloadView& view, const PodTemplateView& pod,
                     const AdmissionRequest& request, const Config& config);

// Whether Volcano places these pods: true for it under its own or the configured name or a
// misspelling of either, and for an unset scheduler where injection fills it in.
bool IsPlacedByVolcano(const WorkloadView& view, const PodTemplateView& pod,
                       const AdmissionRequest& request, const Config& config);

}  // namespace mindgate::schemas
