/// The error at the end of an operation, as its two kinds of blocks get it.
///
/// The blocks that Apple has deprecated get a `partialFailure` with the errors of single items. The
/// newer ones never do: other blocks get the errors of items, and the request succeeded.
///
/// - Source: Apple, *shareAccessRequestResultBlock*: "The top-level error will never be
///   `CKError.partialFailure`."
extension CKError? {
    /// The error of the whole request; `nil` if there was a response, whatever the results of its
    /// items.
    var requestError: CKError? { self?.code == .partialFailure ? nil : self }

    /// The result for a result block.
    var requestResult: Result<Void, any Error> { self.requestError.map { .failure($0) } ?? .success(()) }
}
