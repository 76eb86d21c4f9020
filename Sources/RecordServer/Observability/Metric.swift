package import StorageContract

/// A metric and its values at one moment.
package struct Metric: Sendable {
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    package enum Value: Hashable, Sendable {
        case number(Double)
        /// Written in seconds.
        case durations(DurationCounts)
    }

    package struct Sample: Sendable {
        /// Values of labels by name, in output order.
        package var labels: [(name: String, value: String)]
        package var value: Value

        package init(labels: [(name: String, value: String)], value: Value) {
            self.labels = labels
            self.value = value
        }
    }

    package let name: MetricName
    package var samples: [Sample]

    package init(_ name: MetricName, _ value: Double) {
        self.name = name
        self.samples = [Sample(labels: [], value: .number(value))]
    }

    package init(_ name: MetricName, _ value: Int) { self.init(name, Double(value)) }

    package init(_ name: MetricName, samples: [Sample]) {
        self.name = name
        self.samples = samples
    }
}
