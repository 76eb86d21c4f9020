internal import RecordClient
internal import WireProtocol

/// An event of a request for the caller's side, which takes them in order.
enum RequestStep<Request: BatchRequest>: Sendable {
    /// The request, or a part of it, is sent, unless the client has refused all of it.
    indirect case sending(RequestAttempt<Request>)
    /// A part of the response arrived.
    case received([Item])
    /// The response ended, or there will be none.
    case ended(Result<End, ClientError>)
    /// The record of a result is complete, or can't be completed.
    case completed(Int, Result<CKRecord, CKError>)
    /// Bytes of files have moved, which the closure reports.
    case progress(@Sendable () -> Void)
    /// The request could not be sent.
    case failed(CKError)

    /// Whether a task that awaits the end has to run the step at once.
    var isUrgent: Bool {
        switch self {
        case .sending, .received, .progress: false
        case .ended, .completed, .failed: true
        }
    }

    /// Whether callbacks may be called for the step.
    var isReported: Bool {
        if case .sending(let attempt) = self { !attempt.roles.refused.isEmpty } else { true }
    }
}

/// The end of a request.
enum CallEnd<Request: BatchRequest>: Sendable {
    /// Every item has its result; with the results that were not reported before, the
    /// `partialFailure` of the items that failed, and the end of the response.
    case answered([Request.ItemResult], CKError?, End)
    /// The request failed as a whole.
    case failed(CKError)
}
