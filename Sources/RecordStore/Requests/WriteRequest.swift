package import RecordModel
package import StorageContract

/// A change that waits for the writer.
package struct WriteRequest: Sendable {
    package enum Operation: Sendable {
        case modifyRecords(ModifyRecords)
        case modifyZones(ModifyZones)
        case modifySubscriptions(ModifySubscriptions)
        case acceptShares(AcceptShares)
        case requestShareAccess(RequestShareAccess)
    }

    package var requester: Requester
    package var requestID: RequestID
    package var operation: Operation
    /// The encoded size, which counts in the writer's queue.
    package var bytes: Int
    /// Milliseconds since 1970 after which the request is refused instead of executed.
    package var deadlineMilliseconds: Int64
    /// The connection that asks, which is not notified of its own changes; `nil` if there is none.
    package var origin: ChangeOrigin?
    /// Records that an operator puts back; `nil` for a request of a client.
    ///
    /// Only a command on the store's files sets it.
    package var restored: UndoneRecords?

    package init(
        requester: Requester,
        requestID: RequestID,
        operation: Operation,
        bytes: Int,
        deadlineMilliseconds: Int64,
        origin: ChangeOrigin? = nil
    ) {
        self.requester = requester
        self.requestID = requestID
        self.operation = operation
        self.bytes = bytes
        self.deadlineMilliseconds = deadlineMilliseconds
        self.origin = origin
    }
}

/// The outcome of one item of a write, in the order of the request's items.
package enum WriteOutcome: Hashable, Sendable {
    /// The record's change has the position; its change tag is made from it.
    case recordSaved(position: Int64, system: SystemFields)
    indirect case zoneSaved(Zone)
    indirect case subscriptionSaved(Subscription)
    case deleted
    /// With the share as who has joined sees it.
    indirect case shareAccepted(Record)
    case done
    indirect case failed(StoreError)
}

/// The outcome of one item of a read.
package enum ReadOutcome: Hashable, Sendable {
    case record(Record)
    case zone(Zone)
    indirect case shareMetadata(ShareMetadata)
    /// A user who can be invited.
    case identity(UserIdentity)
    indirect case explanation(RecordExplanation)
    case failed(StoreError)
}
