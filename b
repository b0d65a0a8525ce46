push   %r15
push   %r14
push   %r13
push   %r12
push   %rbp
mov    %rdi,%rbp
push   %rbx
sub    $0x58,%rsp
mov    0x10(%rdi),%rax
mov    0xb8(%rax),%r13
mov    %rax,0x18(%rsp)
test   %r13,%r13
je     L) [clone ._omp_fn.0]+0x3b>
mov    %rax,%rbx
call   L) [clone ._omp_fn.0]+0x2e>
cltq
imul   0xd0(%rbx),%rax
add    %rax,%r13
mov    0x0(%rbp),%rdx
lea    0x28(%rsp),%rax
movq   $0x0,(%rsp)
mov    %rax,0x10(%rsp)
lea    0x20(%rsp),%rax
cmpq   $0x0,0x10(%rdx)
mov    %rax,0x8(%rsp)
jle    L) [clone ._omp_fn.0]+0x13d>
cs nopw 0x0(%rax,%rax,1)
mov    (%rsp),%rax
mov    0x8(%rdx),%rdx
mov    $0x1,%ebx
mov    0x10(%rsp),%r9
mov    0x8(%rsp),%r8
lea    (%rax,%rax,8),%rax
lea    (%rdx,%rax,8),%r15
mov    0x18(%rsp),%rax
mov    0x30(%r15),%rsi
movslq 0x8(%rax),%rcx
mov    %rsi,%rax
shl    $0x5,%rcx
cqto
idiv   %rcx
mov    $0x1,%ecx
test   %rax,%rax
cmovg  %rax,%rbx
xor    %edi,%edi
mov    %rbx,%rdx
call   L) [clone ._omp_fn.0]+0xbe>
test   %al,%al
jne    L) [clone ._omp_fn.0]+0x167>
call   L) [clone ._omp_fn.0]+0xcb>
call   L) [clone ._omp_fn.0]+0xd0>
mov    0x28(%rbp),%rdx
mov    $0x1,%edi
mov    0x40(%rdx),%r15d
lea    0x40(%rdx),%rbx
lock xadd %edi,(%rdx)
add    $0x1,%edi
cmp    %edi,%eax
je     L) [clone ._omp_fn.0]+0x26a>
mov    $0x7d0,%eax
jmp    L) [clone ._omp_fn.0]+0x10b>
nopw   0x0(%rax,%rax,1)
pause
sub    $0x1,%eax
je     L) [clone ._omp_fn.0]+0x1c6>
mov    (%rbx),%edx
cmp    %edx,%r15d
je     L) [clone ._omp_fn.0]+0x100>
mov    0x8(%rbp),%rax
cmpq   $0x0,0x8(%rax)
je     L) [clone ._omp_fn.0]+0x126>
call   L) [clone ._omp_fn.0]+0x122>
test   %eax,%eax
je     L) [clone ._omp_fn.0]+0x19e>
mov    0x0(%rbp),%rdx
addq   $0x1,(%rsp)
mov    (%rsp),%rax
cmp    %rax,0x10(%rdx)
jg     L) [clone ._omp_fn.0]+0x70>
add    $0x58,%rsp
pop    %rbx
pop    %rbp
pop    %r12
pop    %r13
pop    %r14
pop    %r15
ret
nopl   0x0(%rax)
mov    0x10(%rsp),%rsi
mov    0x8(%rsp),%rdi
call   L) [clone ._omp_fn.0]+0x15f>
test   %al,%al
je     L) [clone ._omp_fn.0]+0xc6>
mov    0x20(%rsp),%r14
mov    0x28(%rsp),%r12
nopl   0x0(%rax)
mov    0x30(%r15),%rcx
mov    %r14,%rdx
add    %rbx,%r14
mov    0x20(%r15),%rsi
mov    0x18(%rbp),%rdi
mov    %r13,%r8
cmp    %rcx,%r14
cmovle %r14,%rcx
call   *(%r15)
cmp    %r14,%r12
jg     L) [clone ._omp_fn.0]+0x178>
jmp    L) [clone ._omp_fn.0]+0x150>
call   L) [clone ._omp_fn.0]+0x1a3>
mov    0x8(%rbp),%rax
mov    (%rsp),%rbx
movapd %xmm0,%xmm1
subsd  0x20(%rbp),%xmm1
movsd  %xmm0,0x20(%rbp)
mov    (%rax),%rax
movsd  %xmm1,(%rax,%rbx,8)
jmp    L) [clone ._omp_fn.0]+0x126>
mov    %rbx,%rax
shl    $0x5,%rax
and    $0x780,%eax
add    0x0(%rip),%rax
mov    %rax,%r14
lock addl $0x1,(%rax)
mov    %r15d,0x30(%rsp)
mov    %rbx,%rax
xor    %r12d,%r12d
movl   $0x2,0x38(%rsp)
mov    %rbx,0x40(%rsp)
jmp    L) [clone ._omp_fn.0]+0x20b>
nopw   0x0(%rax,%rax,1)
pause
add    $0x1,%r12d
mov    0x40(%rsp),%rax
mov    (%rax),%eax
cmp    0x30(%rsp),%eax
jne    L) [clone ._omp_fn.0]+0x260>
cmp    $0xb,%r12d
jle    L) [clone ._omp_fn.0]+0x200>
call   L) [clone ._omp_fn.0]+0x21e>
add    $0x1,%r12d
cmp    $0x10,%r12d
jne    L) [clone ._omp_fn.0]+0x206>
xor    %r8d,%r8d
xor    %edx,%edx
xor    %eax,%eax
mov    %r15d,%ecx
mov    %rbx,%rsi
mov    $0xca,%edi
call   L) [clone ._omp_fn.0]+0x23f>
test   %rax,%rax
je     L) [clone ._omp_fn.0]+0x255>
call   L) [clone ._omp_fn.0]+0x249>
mov    (%rax),%edi
cmp    $0x4,%edi
je     L) [clone ._omp_fn.0]+0x255>
cmp    $0xb,%edi
jne    L) [clone ._omp_fn.0]+0x2c2>
mov    (%rbx),%eax
cmp    %eax,%r15d
je     L) [clone ._omp_fn.0]+0x1e0>
nopl   0x0(%rax)
lock subl $0x1,(%r14)
jmp    L) [clone ._omp_fn.0]+0x112>
movl   $0x0,(%rdx)
lea    0x1(%r15),%ecx
mov    %rbx,%rax
shl    $0x5,%rax
and    $0x780,%eax
mov    %ecx,0x40(%rdx)
add    0x0(%rip),%rax
lea    0x40(%rax),%rcx
cmp    %rcx,%rbx
je     L) [clone ._omp_fn.0]+0x2bb>
mov    (%rax),%eax
test   %eax,%eax
je     L) [clone ._omp_fn.0]+0x112>
mov    $0x7fffffff,%ecx
mov    $0x1,%edx
mov    %rbx,%rsi
xor    %eax,%eax
mov    $0xca,%edi
call   L) [clone ._omp_fn.0]+0x2b6>
jmp    L) [clone ._omp_fn.0]+0x112>
lock addl $0x1,0x40(%rdx)
jmp    L) [clone ._omp_fn.0]+0x293>
call   L) [clone ._omp_fn.0]+0x2c7>
nop
nopl   0x0(%rax,%rax,1)

