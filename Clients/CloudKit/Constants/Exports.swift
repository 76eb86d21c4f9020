// Published code often imports only CloudKit, and uses `Date`, `UUID`, `NSPredicate` and
// `CLLocation`.
@_exported public import CoreLocation
@_exported public import Foundation
@_exported public import Observation
