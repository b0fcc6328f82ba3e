#include "monitor_metrics.hpp"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <algorithm>

#include "harmonia/core/text.hpp"

namespace harmonia {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

constexpr const char* kRegion = "region";
constexpr const char* kAllRows = "all";

// The metrics of one snapshot, a family each.
class Families {
 public:
  void count(const std::string& name, const std::string& help, double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;
    add(name, help, MetricType::Counter, std::move(metric));
  }
  void gauge(const std::string& name, const std::string& help, double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    add(name, help, MetricType::Gauge, std::move(metric));
  }
  const std::vector<MetricFamily>& all() const { return families_; }

 private:
  void add(const std::string& name, const std::string& help, MetricType type, ClientMetric metric) {
    auto found = std::ranges::find(families_, name, &MetricFamily::name);
    if (found == families_.end()) found = families_.insert(found, MetricFamily{name, help, type, {}});
    found->metric.push_back(std::move(metric));
  }

  std::vector<MetricFamily> families_;
};

void add_counts(Families& families, const MonitorStatus& status, const Labels& model) {
  const auto count = [&](const std::string& name, const std::string& help, std::uint64_t value) {
    families.count(name, help, static_cast<double>(value), model);
  };
  count("harmonia_rows_total", "Rows that came.", status.rows);
  count("harmonia_rows_measured_total", "Rows that have a gamma.", status.measured);
  count("harmonia_rows_left_out_total", "Rows that sampling left out.", status.left_out);
  count("harmonia_rows_without_value_total", "Rows that could not be measured.", status.without_value);
  count("harmonia_rows_refused_total", "What came and was no row.", status.refused);
  count("harmonia_batches_repeated_total", "Batches that were sent again.", status.repeated_batches);
  count("harmonia_model_evaluations_total", "Points that the model was asked since the start.",
        status.evaluations);
  families.gauge("harmonia_measured_share", "Share of the rows that is measured at present.", status.share,
                 model);
  families.gauge("harmonia_last_row_timestamp_seconds", "When the last row came; 0: none did.",
                 status.last_row, model);
  families.gauge("harmonia_state_unsaved", "1 while the file of the state cannot be written.",
                 status.unsaved.empty() ? 0 : 1, model);
  const auto open = std::ranges::count_if(status.alerts, [](const Alert& alert) { return !alert.ended; });
  families.gauge("harmonia_alerts_open", "Changes of gamma that have not ended.", static_cast<double>(open),
                 model);
  const Time raised = status.alerts.empty() ? 0 : status.alerts.back().raised;
  families.gauge("harmonia_alert_raised_timestamp_seconds", "When the last alert was raised; 0: none was.",
                 raised, model);
}

void add_inference(Families& families, const InferenceCounts& counts, const Labels& model) {
  const auto count = [&](const std::string& name, const std::string& help, std::uint64_t value) {
    families.count("harmonia_inference_" + name, help, static_cast<double>(value), model);
  };
  count("requests_total", "Inference requests of the model that were passed on and answered with success.",
        counts.requests);
  count("requests_unread_total", "Of these, those whose rows could not be read.", counts.unread);
  count("rows_dropped_total", "Rows of inference requests that were not taken because too many waited.",
        counts.dropped_rows);
  count("requests_unanswered_total", "Requests that the model server did not answer.", counts.unanswered);
}

Labels with_region(Labels labels, const std::string& region) {
  labels.push_back({kRegion, region});
  return labels;
}

// What the Gamma Map says of the latest window that has rows it answered.
void add_stability(Families& families, const WatchedModel& model, const Labels& labels) {
  const std::vector<Window>& windows = model.status.windows;
  const auto latest =
      std::find_if(windows.rbegin(), windows.rend(), [](const Window& w) { return w.stability.rows > 0; });
  if (latest == windows.rend()) return;
  const MeanStability mean = mean_stability(latest->stability, model.baseline->options.confidence);
  const auto gauge = [&](const std::string& name, const std::string& help, std::optional<double> value) {
    if (value) families.gauge(name, help, *value, labels);
  };
  gauge("harmonia_stability_mean",
        "Mean probability, by the Gamma Map, that a row of the latest window keeps its class.", mean.mean);
  gauge("harmonia_stability_low", "Lower end of its interval.", mean.low);
  gauge("harmonia_stability_high", "Upper end of its interval.", mean.high);
  gauge("harmonia_stability_outside_share",
        "Share of the rows of that window that are outside of what the map was fitted on.",
        static_cast<double>(latest->stability.outside) / static_cast<double>(latest->stability.rows));
}

void add_gamma(Families& families, const WatchedModel& model, const Labels& labels) {
  const Baseline& baseline = *model.baseline;
  const auto mean = [&](const std::string& name, const std::string& help, std::optional<double> value,
                        const std::string& region) {
    if (value) families.gauge(name, help, *value, with_region(labels, region));
  };
  const std::string before = "harmonia_baseline_gamma_mean";
  const std::string before_help = "Mean gamma of the reference data.";
  mean(before, before_help, baseline.gamma.mean, kAllRows);
  for (std::size_t i = 0; i < baseline.regions.size(); ++i)
    mean(before, before_help, baseline.regions[i].mean, std::to_string(i));
  if (!model.status.windows.empty()) {
    const RowCounts& counts = model.status.windows.back().counts;
    const GammaStatistics all = counted_gamma(baseline, counts, baseline.options.confidence);
    mean("harmonia_gamma_mean", "Mean gamma of the latest window.", all.mean, kAllRows);
    for (std::size_t i = 0; i < counts.gamma.size(); ++i) {
      if (!counts.gamma[i].empty())
        mean("harmonia_gamma_mean", "", mean_gamma(baseline, counts, i), std::to_string(i));
    }
    families.gauge("harmonia_gamma_low", "Lower end of its interval.", all.low.value_or(0), labels);
    if (all.high) families.gauge("harmonia_gamma_high", "Upper end of its interval.", *all.high, labels);
  }
  if (model.options.map) add_stability(families, model, labels);
  for (std::size_t i = 0; i < model.status.p_values.size(); ++i) {
    families.gauge(
        "harmonia_p_value",
        "Smallest anytime-valid p-value of no change since the restart, corrected for all detectors.",
        model.status.p_values[i], with_region(labels, i == 0 ? kAllRows : std::to_string(i - 1)));
  }
  families.gauge("harmonia_false_alarm_rate", "Probability that a stream without drift ever raises an alarm.",
                 model.options.detectors.false_alarms, labels);
}

void add_sink(Families& families, const SinkStatus& sink) {
  const Labels labels{{"sink", sink.kind}};
  const auto deliveries = [&](const char* result, std::uint64_t count) {
    Labels both = labels;
    both.push_back({"result", result});
    families.count("harmonia_alert_deliveries_total",
                   "What became of alerts: sent, given_up (refused, or tried too often), dropped (too many "
                   "waited).",
                   static_cast<double>(count), std::move(both));
  };
  deliveries("sent", sink.sent);
  deliveries("given_up", sink.given_up);
  deliveries("dropped", sink.dropped);
  families.count("harmonia_alert_failed_tries_total", "Tries to deliver an alert that failed.",
                 static_cast<double>(sink.failed_tries), labels);
  families.gauge("harmonia_alerts_waiting", "Alerts that are not delivered yet.",
                 static_cast<double>(sink.waiting), labels);
  families.gauge("harmonia_alert_sink_failing", "1 if the last try to deliver an alert failed.",
                 sink.failure.empty() ? 0 : 1, labels);
}

}  // namespace

std::string monitor_metrics(const std::vector<WatchedModel>& models, const ServerCounts& counts) {
  constexpr std::size_t kLongestLabel = 200;
  Families families;
  families.gauge("harmonia_build_info", "Always 1.", 1, {{"version", HARMONIA_VERSION}});
  for (std::size_t i = 0; i < std::min(models.size(), kLabelledModels); ++i) {
    const Labels labels{{"model", printable(models[i].name, kLongestLabel)}};
    add_counts(families, models[i].status, labels);
    if (models[i].inference) add_inference(families, *models[i].inference, labels);
    add_gamma(families, models[i], labels);
  }
  for (const SinkStatus& sink : counts.sinks) add_sink(families, sink);
  for (std::size_t i = 1; i < counts.replies.size(); ++i) {
    families.count("harmonia_http_replies_total", "Replies by the first digit of their status.",
                   static_cast<double>(counts.replies.at(i)), {{"status", fmt::format("{}xx", i)}});
  }
  families.count("harmonia_batches_refused_total", "Batches that were refused because too many rows waited.",
                 static_cast<double>(counts.refused_batches));
  families.gauge("harmonia_pages_open", "Pages that are kept up to date.", static_cast<double>(counts.pages));
  return prometheus::TextSerializer().Serialize(families.all());
}

}  // namespace harmonia
