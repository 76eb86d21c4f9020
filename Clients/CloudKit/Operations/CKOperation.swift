public import Foundation
private import Synchronization

/// A request to a server as an `Operation` of Foundation.
///
/// Dependencies, queues, priorities, cancelling and subclassing work as with any `Operation`.
///
/// - Order: The callbacks for items run first, then those for the whole operation. Then the
///   operation is finished, and `completionBlock` runs.
/// - Threads: All callbacks of one operation run on a queue of its own, one at a time, never on the
///   caller's thread. They may block.
/// - Cancelling: A cancelled operation finishes with `CKError.operationCancelled`, whether it has
///   started or not. A change that the server was already making is made all the same.
/// - Subclassing: `main` may be overridden, and sends the request by `super.main()`. If it does not
///   call that, the operation finishes without a result when `main` returns, as any `Operation`.
///
/// Blocks are read when the operation runs, and released when it has finished.
///
/// - Source: Apple's `CKOperation`.
// SAFETY: as on Apple's systems, an operation's properties are set before it is started and not
// later. All state that changes while it runs is behind a mutex.
open class CKOperation: Operation, @unchecked Sendable {
    /// The ID of an operation.
    public typealias ID = String

    /// Work that can be cancelled.
    protocol Work: Sendable {
        func cancel()
    }

    private struct Course {
        enum Phase { case waiting, executing, finished }

        var phase = Phase.waiting
        var work: (any Work)?
        /// Whether the operation finishes when its work ends, not when `main` returns.
        var isCommitted = false
        var isConcluded = false
        /// Made when it is read: randomness costs as much as reading several records.
        var identifier: String?
    }

    private let course = Mutex(Course())
    private let own = Configuration()
    private lazy var callbacks = CallbackQueue(name: "CKOperation")

    /// Makes an operation in which nothing is set.
    public override init() { super.init() }

    /// The settings of the operation.
    ///
    /// It is never `nil` when read, and copied when set.
    // Apple's type: published code assigns optionals.
    // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
    open var configuration: Configuration! {
        get { self.own }
        set { self.own.settings = newValue?.settings ?? OperationSettings() }
    }

    /// The group of the operation; its `defaultConfiguration` has the settings that `configuration`
    /// does not.
    open var group: CKOperationGroup?

    /// A UUID, the same for as long as the operation lives.
    open var operationID: ID {
        self.course.withLock { course in
            let identifier = course.identifier ?? UUID().uuidString
            course.identifier = identifier
            return identifier
        }
    }

    /// Kept for code that sets it.
    ///
    /// Never called: operations do not outlive the process in this version.
    open var longLivedOperationWasPersistedBlock: (@Sendable () -> Void)?

    /// The configuration's quality of service.
    open override var qualityOfService: QualityOfService {
        get { self.effectiveSettings.qualityOfService ?? OperationSettings.Defaults.qualityOfService }
        set { self.own.qualityOfService = newValue }
    }

    /// The settings of the operation, completed by those of its group.
    var effectiveSettings: OperationSettings {
        self.own.settings.over(self.group?.defaultConfiguration.settings)
    }

    // MARK: Life

    /// Always `true`: an operation does not end when `start` returns.
    open override var isAsynchronous: Bool { true }

    /// Whether the operation was started and has not finished.
    open override var isExecuting: Bool { self.course.withLock { $0.phase == .executing } }

    /// Whether all callbacks have run.
    open override var isFinished: Bool { self.course.withLock { $0.phase == .finished } }

    /// Starts the operation; a queue does so when its dependencies have finished.
    ///
    /// Starting twice does nothing.
    open override func start() {
        guard self.course.withLock({ $0.phase == .waiting }) else { return }
        self.willChangeValue(forKey: "isExecuting")
        let isFirst = self.course.withLock { course in
            guard course.phase == .waiting else { return false }
            course.phase = .executing
            return true
        }
        self.didChangeValue(forKey: "isExecuting")
        guard isFirst else { return }
        if self.isCancelled {
            self.conclude(with: .cancelled)
            return
        }
        self.main()
        if !self.course.withLock({ $0.isCommitted }) { self.finish() }
    }

    /// Stops the operation as soon as possible.
    open override func cancel() {
        super.cancel()
        self.course.withLock { $0.work }?.cancel()
    }

    /// Hands over the work that finishes the operation by its end.
    ///
    /// Work that is handed over after `cancel` is cancelled.
    func commit(to work: any Work) {
        self.course.withLock { course in
            course.work = work
            course.isCommitted = true
        }
        if self.isCancelled { work.cancel() }
    }

    /// Returns whether this is the first call of `main`.
    func claim() -> Bool {
        self.course.withLock { course in
            guard !course.isCommitted, course.phase != .finished else { return false }
            course.isCommitted = true
            return true
        }
    }

    /// Runs callbacks of the user in order.
    func callBack(_ callback: @escaping @Sendable () -> Void) { self.callbacks.run(callback) }

    /// Reports the end, once, and finishes the operation.
    func conclude(with error: CKError?) {
        // `start` must not finish the operation meanwhile.
        self.course.withLock { $0.isCommitted = true }
        self.callBack { self.concludeHere(with: error) }
    }

    /// Does the same as `conclude`, when called on the callback queue.
    func concludeHere(with error: CKError?) {
        let isFirst = self.course.withLock { course in
            defer { course.isConcluded = true }
            return !course.isConcluded
        }
        guard isFirst else { return }
        self.report(error)
        self.releaseBlocks()
        self.finish()
    }

    /// Calls the blocks for the whole operation; on the callback queue.
    func report(_ error: CKError?) {}

    /// Releases the blocks, which often hold the operation; on the callback queue.
    func releaseBlocks() { self.longLivedOperationWasPersistedBlock = nil }

    private func finish() {
        self.willChangeValue(forKey: "isExecuting")
        self.willChangeValue(forKey: "isFinished")
        self.course.withLock { course in
            course.phase = .finished
            course.work = nil
        }
        self.didChangeValue(forKey: "isExecuting")
        self.didChangeValue(forKey: "isFinished")
    }
}
