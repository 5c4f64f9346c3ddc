#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/request.h"
#include "schemas/workload.h"

namespace mindgate::schemas {

// One line of what becomes of an object: "4  Pod  worker  8 huawei.com/Ascend910 each, scheduler
// volcano".
struct ChildRow {
  std::string count;  // "4"; empty: the object does not say
  std::string kind;   // "PodGroup"
  std::string name;   // of a Pod that of its template; may be empty
  std::string facts;  // for people
  std::string maker;  // the controller; empty with Pods and with what is applied beside
  bool operator==(const ChildRow&) const = default;
};

// PodGroups with their Pods below, Services, rank table, autoscalers; empty for an object that
// makes no pods. The arguments are those of ChildrenOf.
std::vector<ChildRow> ChildRowsOf(const WorkloadView& view, const ObjectLookup* objects = nullptr,
                                  std::string_view ns = {});

}  // namespace mindgate::schemas
