/// Decides, beside an engine, whether a request finds room to wait.
///
/// It knows one process: each of several servers of a store has its own, with limits and reservations
/// of its own.
package protocol LoadGate: Sendable {
    /// Whether requests may be rejected for lack of room: only then the mark of a requester counts.
    ///
    /// Costs nothing.
    var mayReject: Bool { get }

    /// Why a change will be rejected for lack of room, before it is decoded; `nil` if it may be tried.
    ///
    /// Only the environment, the user and the mark of the requester count.
    func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError?

    var figures: LoadFigures { get }
}

/// The requests that wait now, and the reservations since the start.
package struct LoadFigures: Hashable, Sendable {
    package var requestsWaiting = 0
    package var bytesWaiting = 0
    /// Rejections for lack of room that named a time at which to retry.
    package var reservationsGiven: UInt64 = 0
    /// Requests that were admitted for that.
    package var reservationsKept: UInt64 = 0

    package init() {}
}
