#include "scheduler/experiment_spec.h"

#include "core/word_table.h"

namespace rung {
namespace {

constexpr WordTable<Reduce, 4> kReduces{{
    {Reduce::kRank0, "rank0"},
    {Reduce::kMean, "mean"},
    {Reduce::kMin, "min"},
    {Reduce::kMax, "max"},
}};

}  // namespace

std::string_view ToString(Reduce reduce) { return WordOf(kReduces, reduce); }
std::optional<Reduce> ParseReduce(std::string_view word) { return ValueOf(kReduces, word); }

}  // namespace rung
