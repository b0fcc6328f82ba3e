#pragma once

#include <cstdint>

/// Field numbers of onnx.proto, of the messages that are read and written here. They never change.
namespace harmonia {

namespace model_field {
constexpr std::uint32_t kGraph = 7;
}
namespace graph_field {
constexpr std::uint32_t kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kValue = 13;
}
namespace node_field {
constexpr std::uint32_t kInput = 1, kOutput = 2, kOperation = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute_field {
constexpr std::uint32_t kName = 1, kReal = 2, kInteger = 3, kText = 4, kTensor = 5, kGraph = 6, kReals = 7,
                        kIntegers = 8, kStrings = 9, kGraphs = 11;
}
namespace tensor_field {
constexpr std::uint32_t kDims = 1, kType = 2, kFloats = 4, kInt32s = 5, kStrings = 6, kInt64s = 7, kName = 8,
                        kRaw = 9, kDoubles = 10, kExternal = 13, kLocation = 14;
}
namespace value_field {
constexpr std::uint32_t kName = 1, kType = 2;
}
namespace type_field {
constexpr std::uint32_t kTensor = 1, kSequence = 4, kMap = 5, kDenotation = 6;
}
namespace tensor_type_field {
constexpr std::uint32_t kElement = 1, kShape = 2;
}
namespace shape_field {
constexpr std::uint32_t kDimension = 1, kSize = 1;  // of a shape, and of a dimension
}

}  // namespace harmonia
