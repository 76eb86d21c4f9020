/// Identifies a started request, to cancel it.
///
/// Dropping the handle leaves the request running.
package struct RequestHandle: Sendable {
    private let number: UInt64
    private let mailbox: Mailbox

    init(number: UInt64, mailbox: Mailbox) {
        self.number = number
        self.mailbox = mailbox
    }

    /// Ends the request with `ClientError.cancelled`, unless it has ended.
    ///
    /// A change that the server is already writing still takes effect.
    package func cancel() {
        self.mailbox.post(.cancel(number: self.number))
    }
}
