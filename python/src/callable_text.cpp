#include "callable_text.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "harmonia/core/text.hpp"

namespace nb = nanobind;

namespace harmonia::python {
namespace {

ChatOutcome outcome_of(const std::string& name) {
  for (const ChatOutcome outcome : {ChatOutcome::answered, ChatOutcome::empty, ChatOutcome::unasked})
    if (chat_outcome_name(outcome) == name) return outcome;
  return ChatOutcome::failed;
}

}  // namespace

CallableChat::CallableChat(nb::object function, std::string name)
    : function_(std::move(function)), name_(std::move(name)) {}

CallableChat::~CallableChat() {
  const nb::gil_scoped_acquire held;
  function_.reset();
}

void CallableChat::ask(std::span<const ChatQuestion> questions,
                       const std::function<void(std::size_t, ChatAnswer)>& taken) {
  const nb::gil_scoped_acquire held;
  nb::list asked;
  for (const ChatQuestion& question : questions) asked.append(nb::make_tuple(question.text, question.repeat));
  for (const nb::handle given : nb::iter(function_(asked))) {
    auto [place, outcome, text, reason, calls] =
        nb::cast<std::tuple<std::size_t, std::string, std::string, std::string, std::uint64_t>>(given);
    ChatAnswer answer;
    answer.outcome = outcome_of(outcome);
    answer.text = std::move(text);
    answer.reason = sentence(reason);
    answer.calls = calls;
    taken(place, std::move(answer));
  }
}

CallableEmbedder::CallableEmbedder(nb::object function, std::string name)
    : function_(std::move(function)), name_(std::move(name)) {}

CallableEmbedder::~CallableEmbedder() {
  const nb::gil_scoped_acquire held;
  function_.reset();
}

Embeddings CallableEmbedder::embed(std::span<const std::string> texts) {
  const nb::gil_scoped_acquire held;
  nb::list asked;
  for (const std::string& text : texts) asked.append(nb::cast(text));
  const auto found =
      nb::cast<nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(function_(asked));
  Matrix<float> rows(found.shape(0), found.shape(1));
  std::copy_n(found.data(), found.size(), rows.view().data);
  return {std::move(rows), {}};
}

bool CallableEmbedder::cuts(const std::string& text) const {
  const nb::gil_scoped_acquire held;
  return nb::cast<bool>(function_.attr("cuts")(text));
}

}  // namespace harmonia::python
