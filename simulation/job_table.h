#pragma once

#include "schemas/field_types.h"
#include "simulation/scenario.h"

// The keys of jobs and of what happens to them.
namespace mindgate::simulation {

schemas::Type<WatchDelays> WatchDelaysTable();
schemas::Type<JobSpec> JobTable();
schemas::Type<ReportFaults> ReportTable();
schemas::Type<ChangePod> ChangePodTable();
schemas::Type<ExternalDeletion> ExternalDeletionTable();
schemas::Type<ChangeJob> ChangeJobTable();
schemas::Type<JobExpectation> JobExpectationTable();

}  // namespace mindgate::simulation
