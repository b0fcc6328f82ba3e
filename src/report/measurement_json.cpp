#include <nlohmann/json.hpp>

#include "harmonia/report/measurement_report.hpp"

namespace harmonia {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json value_of(const std::optional<double>& angle, AngleConvention convention) {
  return angle ? Json(in_convention(*angle, convention)) : Json(nullptr);
}

}  // namespace

std::string measurement_json(const Measurement& measurement, AngleConvention convention,
                             const ConversationOptions& options) {
  Json json{{"id", measurement.id}, {"status", measurement_status_name(measurement.status)}};
  const ConversationGamma& result = measurement.result;
  if (measurement.status == MeasurementStatus::failed) json["reason"] = result.reason;
  if (result.gamma) {
    const TextGamma& gamma = *result.gamma;
    json["gamma"] = in_convention(gamma.gamma, convention);
    std::optional<Interval> interval;
    if (gamma.interval) interval = in_convention(*gamma.interval, convention);
    json["low"] = interval ? Json(interval->low) : Json(nullptr);
    json["high"] = interval ? Json(interval->high) : Json(nullptr);
    json["confidence"] = options.confidence;
    json["convention"] = convention_name(convention);
    json["plain"] = in_convention(gamma.plain, convention);
    json["paper"] = in_convention(gamma.plain, AngleConvention::paper);
    json["band"] = band_name(band_of(gamma));
    json["floor"] = value_of(gamma.floor, convention);
    json["excess"] = value_of(gamma.excess, convention);
    json["resultant"] = gamma.resultant;
    json["family"] = family_name(options.family);
    json["variants"] = gamma.variants;
    json["changed"] = gamma.changed;
    json["cut"] = result.cut;
    json["refused"] = result.refused;
    json["failed"] = result.failed;
  }
  if (result.calls > 0) {
    json["calls"] = result.calls;
    json["tokens"] = result.tokens;
  }
  return text_of(json);
}

std::string endpoint_error_json(const std::string& message, const std::string& type,
                                const std::string& code) {
  return text_of({{"error", {{"message", message}, {"type", type}, {"param", nullptr}, {"code", code}}}});
}

}  // namespace harmonia
