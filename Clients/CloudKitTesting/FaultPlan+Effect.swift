import RecordModel
public import CloudKit
public import Foundation
import WireProtocol

extension FaultPlan {
    /// The effect of a fault on a request.
    public struct Effect: Sendable {
        let fault: Fault

        /// The request fails with `zoneBusy`; nothing is executed.
        ///
        /// - Parameter seconds: The retry time in the error.
        /// - Returns: The effect.
        public static func zoneBusy(retryAfter seconds: TimeInterval) -> Effect {
            self.failure(.zoneBusy, retryAfter: seconds)
        }

        /// The request fails with `requestRateLimited`; nothing is executed.
        ///
        /// - Parameter seconds: The retry time in the error.
        /// - Returns: The effect.
        public static func rateLimited(retryAfter seconds: TimeInterval) -> Effect {
            self.failure(.requestRateLimited, retryAfter: seconds)
        }

        /// The request fails with `serviceUnavailable`; nothing is executed.
        ///
        /// - Parameter seconds: The retry time in the error.
        /// - Returns: The effect.
        public static func serviceUnavailable(retryAfter seconds: TimeInterval) -> Effect {
            self.failure(.serviceUnavailable, retryAfter: seconds)
        }

        /// The fetch of changes fails as if its token were too old.
        public static let changeTokenExpired = Effect.failure(.changeTokenExpired)

        /// The request fails; nothing is executed.
        ///
        /// - Parameters:
        ///   - code: The code of the error.
        ///   - seconds: The retry time in the error; `nil` if the error advises against a retry.
        /// - Returns: The effect.
        public static func failure(_ code: CKError.Code, retryAfter seconds: TimeInterval? = nil) -> Effect {
            Effect(fault: .refuse(self.refusal(code, retryAfter: seconds)))
        }

        /// One item of the request fails; in an atomic request its peers fail with it.
        ///
        /// - Parameters:
        ///   - index: The index of the item, from 0: saves first, then deletions.
        ///   - code: The code of the error.
        ///   - seconds: The retry time in the error; `nil` if the error advises against a retry.
        /// - Returns: The effect.
        public static func itemFailure(
            _ index: Int,
            _ code: CKError.Code,
            retryAfter seconds: TimeInterval? = nil
        ) -> Effect {
            Effect(fault: .refuseItem(index, self.refusal(code, retryAfter: seconds)))
        }

        private static func refusal(_ code: CKError.Code, retryAfter seconds: TimeInterval?) -> Failure {
            let retry = seconds.map { RetryAdvice.after(milliseconds: UInt32(clamping: Int64($0 * 1_000))) }
            return Failure(
                code: ErrorCode(rawValue: UInt32(clamping: code.rawValue)),
                message: "a fault that the test asked for",
                retry: retry ?? .never
            )
        }

        /// The connection breaks before anything is executed.
        public static let dropConnectionBeforeExecution = Effect(fault: .dropConnectionBeforeExecution)

        /// The request is executed, and the connection breaks before the response.
        ///
        /// A client that sends the request again gets the response of this execution.
        public static let dropConnectionAfterCommit = Effect(fault: .dropConnectionAfterCommit)

        /// The request is executed later.
        ///
        /// - Parameter duration: The delay.
        /// - Returns: The effect.
        public static func delay(_ duration: Duration) -> Effect { Effect(fault: .delay(duration)) }

        /// The request waits until the test opens a gate.
        ///
        /// - Parameter gate: The gate.
        /// - Returns: The effect.
        public static func hold(until gate: Gate) -> Effect { Effect(fault: .hold(gate.gate)) }
    }

    /// A gate at which requests wait.
    ///
    /// ```swift
    /// let gate = FaultPlan.Gate()
    /// server.faults.add(.save(.next), .hold(until: gate))
    /// async let saved = database.save(record)
    /// // ... the save is in flight, and waits ...
    /// gate.open()
    /// try await saved
    /// ```
    public final class Gate: Sendable {
        let gate = FaultGate()

        /// Makes a closed gate.
        public init() {}

        /// Lets the waiting requests pass, in the order in which they came, and all later ones at
        /// once.
        public func open() { self.gate.open() }
    }
}
