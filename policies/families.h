#pragma once

#include <span>

#include "policies/rule.h"

// Every file that holds rules is a family: its checks, then the rules. policies/engine.cc makes the
// catalogue of all of them.
namespace mindgate::policies {

using Family = std::span<const Rule>;

}  // namespace mindgate::policies

namespace mindgate::policies::common {

Family StructureRules();        // structure.cc
Family SchedulerRules();        // scheduler.cc
Family PodRules();              // pods.cc
Family GracePeriodRules();      // recovery.cc
Family FaultValueRules();       // fault_values.cc
Family RecoveryRules();         // recovery.cc
Family FaultPlacementRules();   // fault_placement.cc
Family MinAvailableRules();     // gang_size.cc
Family GangStartRules();        // gang_start.cc
Family ScaledPodRules();        // scaled_pods.cc
Family FieldRules();            // structure.cc
Family IsolationRules();        // pods.cc
Family RankTableWiringRules();  // object_names.cc
Family ServiceNameRules();      // object_names.cc
Family AutoscalingRules();      // gang_size.cc

}  // namespace mindgate::policies::common

namespace mindgate::policies::ascendjob {

Family ReplicaRules();           // ascendjob.cc
Family RunRules();               // run.cc
Family LifeRules();              // life.cc
Family ScalingJobRules();        // scaling_jobs.cc
Family ScalingConfigMapRules();  // configmaps.cc
Family ServiceRules();           // mindie_jobs.cc
Family MindieJobRules();         // mindie_jobs.cc
Family RankTableRules();         // configmaps.cc

}  // namespace mindgate::policies::ascendjob

namespace mindgate::policies::chips {

Family CountRules();             // counts.cc
Family StoredRequestRules();     // requests.cc
Family PolicyRules();            // policy.cc
Family SuperPodRules();          // super_pod.cc
Family InferenceCardRules();     // selectors.cc
Family EnvironmentRules();       // environment.cc
Family VirtualNpuRules();        // virtual_npu.cc
Family SuperPodHardwareRules();  // super_pod_hardware.cc
Family SelectorRules();          // selectors.cc
Family ForeignRules();           // requests.cc

}  // namespace mindgate::policies::chips

namespace mindgate::policies::ome {

Family ComponentRules();  // components.cc

}  // namespace mindgate::policies::ome

namespace mindgate::policies::aibrix {

Family RoleRules();  // roles.cc

}  // namespace mindgate::policies::aibrix

namespace mindgate::policies::volcano {

Family JobRules();  // jobs.cc

}  // namespace mindgate::policies::volcano

namespace mindgate::policies::lws {

Family GroupRules();  // groups.cc

}  // namespace mindgate::policies::lws

namespace mindgate::policies::infer_operator {

Family ServiceRules();    // infer_operator.cc
Family RoleRules();       // role.cc
Family NodePortRules();   // node_ports.cc
Family GangLabelRules();  // role.cc

}  // namespace mindgate::policies::infer_operator
