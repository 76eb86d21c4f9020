import Foundation
package import RecordStore

/// A point in the history of a zone.
package enum PointInTime: Hashable, Sendable {
    case position(Int64)
    case milliseconds(Int64)

    /// Reads a position, a time in ISO 8601, or how long ago: `90s`, `30m`, `2h`, `7d`.
    package init?(_ text: String) {
        if let position = Int64(text) {
            guard position >= 0 else { return nil }
            self = .position(position)
            return
        }
        if let ago = Self.milliseconds(ofDuration: text) {
            self = .milliseconds(SystemTime.milliseconds() - ago)
            return
        }
        let seconds = [false, true].lazy.compactMap { hasFraction in
            try? Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).parse(text)
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

    package var target: UndoTarget {
        switch self {
        case .position(let position): .position(position)
        case .milliseconds(let time): .milliseconds(time)
        }
    }

    /// Whether a change was made after it.
    package func isBefore(_ change: PastChange) -> Bool {
        switch self {
        case .position(let position): change.position > position
        case .milliseconds(let time): change.milliseconds > time
        }
    }
}

extension Int64 {
    /// A time in milliseconds since 1970, as text.
    package var timeText: String {
        Date(timeIntervalSince1970: Double(self) / 1_000).formatted(.iso8601)
    }
}
