import EngineThreads
package import Logging
import Synchronization

/// Log lines that would otherwise follow the rate of requests or connections.
///
/// An outage has an event at its begin and one at its end. Any other fault ends after ten seconds
/// without it. `Outage` decides when a line is due.
package final class FaultLog: Sendable {
    /// Maximum number of subjects of one fault that get their own line, until it ends or an hour
    /// has passed.
    package static let subjectsMax = 100
    private static let subjectsMilliseconds: Int64 = 3_600_000

    private struct Fault {
        var outage = Outage()
        var level: Logger.Level
        /// When it last happened.
        var last: Int64
        var hasUnwritten = false
        var subjects: Set<String> = []
        var subjectsSince: Int64
    }

    private struct OpenOutage {
        var outage = Outage()
        var metadata: Logger.Metadata = [:]
    }

    private struct State {
        var faults: [String: Fault] = [:]
        var outages: [String: OpenOutage] = [:]
    }

    private struct Line {
        var level: Logger.Level
        var text: String
        var metadata: Logger.Metadata
    }

    package let logger: Logger
    private let milliseconds: @Sendable () -> Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - logger: Where lines are written.
    ///   - milliseconds: A clock that only goes forward.
    package init(
        _ logger: Logger,
        milliseconds: @escaping @Sendable () -> Int64 = { MonotonicTime.nanoseconds() / 1_000_000 }
    ) {
        self.logger = logger
        self.milliseconds = milliseconds
    }

    private func write(_ line: Line) {
        self.logger.log(level: line.level, "\(line.text)", metadata: line.metadata)
    }
}

// MARK: - Faults

extension FaultLog {
    /// Notes a fault with an end that only time can show.
    ///
    /// - Parameters:
    ///   - text: The message of its lines.
    ///   - subject: The thing at fault. Each has a line of its own, within a bound.
    ///   - level: The level of its lines.
    ///   - metadata: The metadata of the line, if there is one.
    package func tell(
        _ text: String,
        about subject: String = "",
        level: Logger.Level = .error,
        metadata: @autoclosure () -> Logger.Metadata
    ) {
        let now = self.milliseconds()
        let counted: Logger.Metadata? = self.state.withLock { state in
            var fault = state.faults[text] ?? Fault(level: level, last: now, subjectsSince: now)
            defer { state.faults[text] = fault }
            fault.last = now
            if now - fault.subjectsSince >= Self.subjectsMilliseconds {
                (fault.subjects, fault.subjectsSince) = ([], now)
            }
            let line = fault.outage.goesOn(refusing: 1, now: now)
            let isNew = fault.subjects.count < Self.subjectsMax && fault.subjects.insert(subject).inserted
            guard line != nil || isNew else {
                fault.hasUnwritten = true
                return nil
            }
            return line.map { $0.refused > 1 ? $0.metadata(counting: LogKeys.times) : [:] } ?? [:]
        }
        guard let counted else { return }
        self.write(Line(level: level, text: text, metadata: metadata().merging(counted) { $1 }))
    }

    /// Logs the faults that are over.
    ///
    /// Called every second.
    package func look() {
        let now = self.milliseconds()
        self.endFaults(saying: "a fault has not come again for ten seconds") {
            now - $0 >= Outage.pauseMilliseconds
        }
    }

    /// Logs everything that is pending; later faults are not noted.
    package func end() {
        self.endFaults(saying: "a fault has repeated") { _ in true }
        let now = self.milliseconds()
        let lines = self.state.withLock { state in
            defer { state.outages = [:] }
            return state.outages.compactMap { text, open in
                var outage = open.outage
                return outage.ended(now: now).map {
                    Line(
                        level: .error,
                        text: text,
                        metadata: open.metadata.merging($0.metadata(counting: LogKeys.refused)) { $1 }
                    )
                }
            }
        }
        for line in lines { self.write(line) }
    }

    private func endFaults(saying end: String, where isOver: (_ last: Int64) -> Bool) {
        let lines = self.state.withLock { state in
            let over = state.faults.filter { isOver($0.value.last) }
            return over.compactMap { text, fault -> Line? in
                state.faults[text] = nil
                var fault = fault
                guard let line = fault.outage.ended(now: fault.last), fault.hasUnwritten else { return nil }
                return Line(
                    level: min(fault.level, .notice),
                    text: end,
                    metadata: line.metadata(counting: LogKeys.times).merging([LogKeys.fault: "\(text)"]) {
                        $1
                    }
                )
            }
        }
        for line in lines { self.write(line) }
    }
}

// MARK: - Outages

extension FaultLog {
    /// Notes that an outage begins or continues.
    package func goesOn(_ text: String, refusing requests: Int, metadata: Logger.Metadata) {
        let now = self.milliseconds()
        let line = self.state.withLock { state in
            state.outages[text, default: OpenOutage()].metadata = metadata
            return state.outages[text, default: OpenOutage()].outage.goesOn(refusing: requests, now: now)
        }
        guard let line else { return }
        let counted = line.metadata(counting: LogKeys.refused)
        self.write(Line(level: .error, text: text, metadata: metadata.merging(counted) { $1 }))
    }

    /// Counts requests that an outage refuses, if it has begun.
    package func refused(_ requests: Int, by text: String) {
        let metadata = self.state.withLock { state in
            state.outages[text].flatMap { $0.outage.isOpen ? $0.metadata : nil }
        }
        guard let metadata else { return }
        self.goesOn(text, refusing: requests, metadata: metadata)
    }

    /// Notes the end of an outage, and logs it if its begin was logged.
    package func ended(_ text: String, saying end: String, metadata: Logger.Metadata) {
        let now = self.milliseconds()
        guard let line = self.state.withLock({ $0.outages[text]?.outage.ended(now: now) }) else { return }
        let counted = line.metadata(counting: LogKeys.refused)
        self.write(Line(level: .notice, text: end, metadata: metadata.merging(counted) { $1 }))
    }
}

extension Outage.Line {
    fileprivate func metadata(counting key: String) -> Logger.Metadata {
        [
            LogKeys.seconds: .stringConvertible(Double(self.milliseconds / 100) / 10),
            key: .stringConvertible(self.refused),
        ]
    }
}
