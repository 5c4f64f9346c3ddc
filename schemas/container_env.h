#pragma once

#include <string_view>

#include "schemas/workload.h"

// Environment variables of containers, also where OME merges a service's container over its
// runtime's.
namespace mindgate::schemas {

// The first entry of an env list with that name; null pointer when there is none.
const json::Value* FindEnv(const json::Value* env, std::string_view name);

// The container of the runtime that this one is merged over; null pointer when there is none or it
// is not known.
const ContainerView* RuntimeTwin(const PodTemplateView& pod, const ContainerView& container);

}  // namespace mindgate::schemas
