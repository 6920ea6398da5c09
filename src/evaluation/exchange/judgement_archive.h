// The fields of judgements for the archive (wire/archive/archive.h).
#pragma once

#include "evaluation/exchange/judgement.h"
#include "space/sweep_description_archive.h"

namespace muster {

template <class A>
void Fields(A& archive, JudgeRequest& request) {
  InRange(archive, request.what, JudgeRequest::What::kLayouts);
  archive(request.first, request.count, request.each);
}

template <class A>
void Fields(A& archive, PointNumbers& range) {
  archive(range.first, range.count);
}

template <class A>
void Fields(A& archive, RefusedPoints& refused) {
  archive(refused.problem, refused.example, refused.points, refused.ranges);
}

template <class A>
void Fields(A& archive, PossiblePoints& possible) {
  archive(possible.hosts, possible.devices, possible.points, possible.ranges);
}

template <class A>
void Fields(A& archive, Judgement& judgement) {
  archive(judgement.total, judgement.points, judgement.possible, judgement.planned, judgement.reasons,
          judgement.footprints, judgement.read);
}

template <class A>
void Fields(A& archive, JudgeTask& task) {
  archive(task.sweep, task.request);
}

}  // namespace muster
