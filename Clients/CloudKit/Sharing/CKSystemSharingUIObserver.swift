public import Foundation

/// Observes the system's sharing dialogue on Apple's systems.
///
/// There is no such dialogue here: the blocks are never called.
///
/// - Source: Apple's `CKSystemSharingUIObserver`.
// SAFETY: as on Apple's systems, the blocks are set before anything could call them and not later.
open class CKSystemSharingUIObserver: NSObject, @unchecked Sendable {
    /// Never called.
    public var systemSharingUIDidSaveShareBlock: ((CKRecord.ID, Result<CKShare, any Error>) -> Void)?
    /// Never called.
    public var systemSharingUIDidStopSharingBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?

    /// Observes nothing.
    ///
    /// - Parameter container: Has no effect.
    public init(container: CKContainer) { super.init() }
}
