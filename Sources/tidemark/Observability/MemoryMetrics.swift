import Metrics
import Synchronization

/// Keeps every figure in memory, to be read as one snapshot.
///
/// The number of figures is bounded by the labels and dimensions that our own code makes: none comes from a client.
final class MemoryMetrics: MetricsFactory {
    private let instruments = Mutex<[String: any Instrument]>([:])

    /// Every figure by name, as text; figures that were never touched are left out.
    func snapshot() -> [String: String] {
        self.instruments.withLock { instruments in instruments.compactMapValues { $0.reading } }
    }

    /// Every figure, in Prometheus' text exposition format, in the order of their names.
    func exposition() -> String {
        let figures = self.instruments.withLock { instruments in
            instruments.compactMap { name, instrument in
                instrument.exposition.map { (Figure(name), $0) }
            }
        }
        var text = ""
        var last = ""
        for (figure, exposition) in figures.sorted(by: { $0.0 < $1.0 }) {
            if figure.family != last { text += "# TYPE \(figure.family) \(exposition.type)\n" }
            last = figure.family
            for sample in exposition.samples {
                text += figure.line(suffix: sample.suffix, label: sample.label, value: sample.value)
            }
        }
        return text
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        self.instrument(label, dimensions, make: CountInstrument.init)
    }

    func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        self.instrument(label, dimensions, make: LevelInstrument.init)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        self.instrument(label, dimensions, make: LevelInstrument.init)
    }

    func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        self.instrument(label, dimensions, make: DistributionInstrument.init)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.instrument(label, dimensions, make: DistributionInstrument.init)
    }

    // A figure outlives the handle that made it: a counter that is made again goes on counting.
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func instrument<Made: Instrument>(
        _ label: String,
        _ dimensions: [(String, String)],
        make: () -> Made
    ) -> Made {
        let labels = dimensions.map { "\($0.0)=\($0.1)" }.joined(separator: ",")
        let name = labels.isEmpty ? label : "\(label){\(labels)}"
        return self.instruments.withLock { instruments in
            if let existing = instruments[name] as? Made { return existing }
            let made = make()
            instruments[name] = made
            return made
        }
    }
}

/// A figure that can be read.
protocol Instrument: AnyObject, Sendable {
    /// `nil` when it was never touched.
    var reading: String? { get }
    var exposition: Exposition? { get }
}
