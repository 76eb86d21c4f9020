public import CloudKit
public import Foundation
import RecordServer
import WireProtocol

extension FaultPlan {
    /// What happens to a request.
    public struct Effect: Sendable {
        let fault: Fault

        /// The request is refused with `zoneBusy`; nothing is executed.
        ///
        /// - Parameter seconds: What the error tells the client to wait.
        /// - Returns: The refusal.
        public static func zoneBusy(retryAfter seconds: TimeInterval) -> Effect {
            self.failure(.zoneBusy, retryAfter: seconds)
        }

        /// The request is refused with `requestRateLimited`; nothing is executed.
        ///
        /// - Parameter seconds: What the error tells the client to wait.
        /// - Returns: The refusal.
        public static func rateLimited(retryAfter seconds: TimeInterval) -> Effect {
            self.failure(.requestRateLimited, retryAfter: seconds)
        }

        /// The request is refused with `serviceUnavailable`; nothing is executed.
        ///
        /// - Parameter seconds: What the error tells the client to wait.
        /// - Returns: The refusal.
        public static func serviceUnavailable(retryAfter seconds: TimeInterval) -> Effect {
            self.failure(.serviceUnavailable, retryAfter: seconds)
        }

        /// The request for changes is refused as one whose token is too old.
        public static let changeTokenExpired = Effect.failure(.changeTokenExpired)

        /// The request is refused; nothing is executed.
        ///
        /// - Parameters:
        ///   - code: With which error.
        ///   - seconds: What the error tells the client to wait; `nil`: that the request is not to be sent again.
        /// - Returns: The refusal.
        public static func failure(_ code: CKError.Code, retryAfter seconds: TimeInterval? = nil) -> Effect {
            Effect(fault: .refuse(self.refusal(code, retryAfter: seconds)))
        }

        /// One item of the request is refused; in an atomic request its peers fail with it.
        ///
        /// - Parameters:
        ///   - index: Which, from 0: saves first, then deletions.
        ///   - code: With which error.
        ///   - seconds: What the error tells the client to wait; `nil`: that the item is not to be sent again.
        /// - Returns: The refusal.
        public static func itemFailure(
            _ index: Int,
            _ code: CKError.Code,
            retryAfter seconds: TimeInterval? = nil
        ) -> Effect {
            Effect(fault: .refuseItem(index, self.refusal(code, retryAfter: seconds)))
        }

        private static func refusal(_ code: CKError.Code, retryAfter seconds: TimeInterval?) -> Failure {
            let retry = seconds.map { Failure.Retry.after(milliseconds: UInt32(clamping: Int64($0 * 1_000))) }
            return Failure(
                code: ErrorCode(rawValue: UInt32(clamping: code.rawValue)),
                message: "a fault that the test asked for",
                retry: retry ?? .never
            )
        }

        /// The connection breaks before anything is executed.
        public static let dropConnectionBeforeExecution = Effect(fault: .dropConnectionBeforeExecution)

        /// The request is executed, and the connection breaks before the answer.
        ///
        /// A client that sends the request again gets the answer of this execution.
        public static let dropConnectionAfterCommit = Effect(fault: .dropConnectionAfterCommit)

        /// The request is executed later.
        ///
        /// - Parameter duration: How much later.
        /// - Returns: The delay.
        public static func delay(_ duration: Duration) -> Effect { Effect(fault: .delay(duration)) }

        /// The request waits before it is executed, for as long as the test likes.
        ///
        /// - Parameter gate: What it waits for.
        /// - Returns: The waiting.
        public static func hold(until gate: Gate) -> Effect { Effect(fault: .hold(gate.gate)) }
    }

    /// What requests wait for that a plan holds.
    ///
    /// ```swift
    /// let gate = FaultPlan.Gate()
    /// server.faults.add(.save(.next), .hold(until: gate))
    /// async let saved = database.save(record)
    /// // ... the save is on its way, and will not get there by itself ...
    /// gate.open()
    /// try await saved
    /// ```
    public final class Gate: Sendable {
        let gate = FaultGate()

        /// Makes one that is closed.
        public init() {}

        /// Lets all go that wait, in the order in which they came, and from then on every other at once.
        public func open() { self.gate.open() }
    }
}
