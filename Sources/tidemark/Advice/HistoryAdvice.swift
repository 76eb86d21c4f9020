import Administration
import RecordModel
import RecordStore

/// Error texts for the past of zones.
enum HistoryAdvice {
    static func failure(_ error: HistoryError) -> CommandFailure {
        switch error {
        case .isNotKept(let container):
            CommandFailure(
                .data,
                "\(container) keeps no history, so nothing of before can be told. From now on: "
                    + "tidemark container history \(container) --days 30"
            )
        case .zone(let zone, let error):
            RecordAdvice.failure(error, doing: "the zone '\(zone.zoneName)' has no history")
        case .doesNotReach(let point, let zone, let beginning):
            CommandFailure(
                .data,
                "the history of the zone '\(zone.zoneName)' does not go back to \(self.text(point)). It begins at "
                    + "\(beginning.sinceMilliseconds.timeText), at the position \(beginning.since): "
                    + "name a time or a position from there on, or restore a backup: tidemark restore --help"
            )
        case .isGone(let record):
            CommandFailure(
                .data,
                "the history of the zone has become shorter meanwhile: what '\(record)' was is gone. "
                    + "Begin anew, with a later time."
            )
        case .record(let record, let error):
            RecordAdvice.failure(error, doing: "the record '\(record)' cannot be read")
        }
    }

    private static func text(_ point: PointInTime) -> String {
        switch point {
        case .position(let position): "the position \(position)"
        case .milliseconds(let time): time.timeText
        }
    }
}
