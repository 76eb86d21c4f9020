import ArgumentParser
import Foundation
import RecordStore

/// A point in the history of a zone: `TIME` or `POSITION` on a command line.
enum PointInTime: Hashable, ExpressibleByArgument {
    case position(Int64)
    case milliseconds(Int64)

    static let help = "a position, a time such as 2026-11-26T09:30:00Z, or how long ago: 90s, 30m, 2h, 7d"

    init?(argument: String) {
        if let position = Int64(argument) {
            guard position >= 0 else { return nil }
            self = .position(position)
            return
        }
        if let ago = Self.milliseconds(ofDuration: argument) {
            self = .milliseconds(SystemTime.milliseconds() - ago)
            return
        }
        let seconds = [false, true].lazy.compactMap { hasFraction in
            try? Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).parse(argument)
        }.first?.timeIntervalSince1970
        guard let seconds else { return nil }
        self = .milliseconds(Int64((seconds * 1_000).rounded()))
    }

    private static func milliseconds(ofDuration text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let last = text.last, let unit = units[last], let count = Int64(text.dropLast()), count >= 0,
            count <= 100_000_000
        else { return nil }
        return count * unit
    }

    var target: UndoTarget {
        switch self {
        case .position(let position): .position(position)
        case .milliseconds(let time): .milliseconds(time)
        }
    }

    /// Whether a change was made behind it.
    func isBefore(_ change: PastChange) -> Bool {
        switch self {
        case .position(let position): change.position > position
        case .milliseconds(let time): change.milliseconds > time
        }
    }
}

extension Int64 {
    /// A time in milliseconds since 1970, as text.
    var timeText: String {
        Date(timeIntervalSince1970: Double(self) / 1_000).formatted(.iso8601)
    }
}
