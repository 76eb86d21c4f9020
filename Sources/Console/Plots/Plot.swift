/// Figures over time, to be drawn as lines.
package struct Plot: Hashable, Sendable {
    /// The meaning of a number.
    package enum Unit: Hashable, Sendable {
        /// A number of events in an interval.
        case count
        /// A number at a moment, or a ratio of two counts.
        case level
        case perSecond
        case seconds
        case bytes
        case bytesPerSecond
        /// 1 is the whole.
        case share
    }

    package struct Line: Hashable, Sendable {
        package var name: String
        /// One an interval; `nil` if it is not known.
        package var values: [Double?]

        package init(name: String, values: [Double?]) {
            self.name = name
            self.values = values
        }
    }

    /// Bounds on what a reader can distinguish.
    package static let linesMax = 6

    /// Of letters and dashes, for a URL.
    package var id: String
    package var title: String
    /// A sentence about the figures.
    package var note: String
    package var unit: Unit
    package var lines: [Line]

    package init(_ id: String, _ title: String, _ unit: Unit, note: String, lines: [Line]) {
        self.id = id
        self.title = title
        self.unit = unit
        self.note = note
        self.lines = lines
    }
}

/// The figures of a server over an hour or a day.
package struct Telemetry: Hashable, Sendable {
    package enum Span: String, CaseIterable, Sendable {
        case hour
        case day
    }

    package var span: Span
    /// The beginning of the first interval.
    package var beginMilliseconds: Int64
    package var intervalMilliseconds: Int64
    package var intervalCount: Int
    /// All with a value an interval.
    package var plots: [Plot]
    /// Intervals in which the server began.
    package var starts: [Int]
    /// The last moment that is known; `nil` if there is none, also before the first interval.
    package var watchedUntilMilliseconds: Int64?

    package init(
        span: Span,
        beginMilliseconds: Int64,
        intervalMilliseconds: Int64,
        intervalCount: Int
    ) {
        self.span = span
        self.beginMilliseconds = beginMilliseconds
        self.intervalMilliseconds = intervalMilliseconds
        self.intervalCount = intervalCount
        self.plots = []
        self.starts = []
    }

    func milliseconds(of interval: Int) -> Int64 {
        self.beginMilliseconds + Int64(interval) * self.intervalMilliseconds
    }
}

/// The figures of a server that a console finds.
package enum TelemetryOutcome: Hashable, Sendable {
    case found(Telemetry)
    /// No server has kept figures in the folder.
    case none
    /// A sentence that says why, and what to do.
    case unreadable(String)
}
